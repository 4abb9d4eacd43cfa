/** The packages of the lockfile, and through them a Node new enough to run TypeScript as it is. */
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { forProgram, isThisNode } from '../../src/cli/node-version.mjs';
import { root } from './tools.mjs';
import { run, SetupError, timed, whileLocked } from './steps.mjs';

export async function installDependencies() {
  if (!isInstalled()) {
    await whileLocked(path.join(root, '.interlude/setup.lock'), async () => {
      if (isInstalled()) return;
      // Install scripts are not needed by anything here, so none is trusted.
      await timed(
        'installing packages (npm ci)',
        () => run('npm', ['ci', '--ignore-scripts'], { cwd: root }),
        'once: half a minute, on a slow line or machine two or three',
      );
    });
  }
  linkProgram();
  if (isThisNode(forProgram) || existsSync(path.join(root, 'node_modules/.bin/node'))) return;
  throw new SetupError(
    `Interlude needs Node ${forProgram} or newer on ${process.platform}-${process.arch}, where npm has no Node to install, and this is ${process.version}: ` +
      'install it from https://nodejs.org or with your version manager, then run the command again.',
  );
}

/**
 * `npx interlude` finds the program in `node_modules/.bin`, where npm links those of packages, but not our own. Without the
 * link, npx would install the checkout once more into a cache of its own.
 */
function linkProgram() {
  const bin = path.join(root, 'node_modules/.bin');
  const isWindows = process.platform === 'win32';
  const link = path.join(bin, isWindows ? 'interlude.cmd' : 'interlude');
  if (lstatSync(link, { throwIfNoEntry: false })) return;
  try {
    mkdirSync(bin, { recursive: true });
    if (isWindows) writeFileSync(link, '@node "%~dp0\\..\\..\\src\\cli\\interlude.mjs" %*\r\n');
    else symlinkSync('../../src/cli/interlude.mjs', link);
  } catch (error) {
    // Another set-up at the same time was first; or the checkout is read-only, where everything but npx works without it.
    const { code = '' } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!['EEXIST', 'EACCES', 'EPERM', 'EROFS'].includes(code)) throw error;
  }
}

/** npm keeps its own record of what it installed, written last; it is compared with the lockfile, package by package. */
function isInstalled() {
  const wanted = packagesIn('package-lock.json');
  const installed = packagesIn('node_modules/.package-lock.json');
  return Object.entries(wanted).every(([name, { version, optional, devOptional, link }]) => {
    if (name === '' || link) return true;
    const found = installed[name];
    return found ? found.version === version : Boolean(optional || devOptional);
  });
}

/** @param {string} file @returns {Record<string, { version?: string, optional?: boolean, devOptional?: boolean, link?: boolean }>} */
function packagesIn(file) {
  const full = path.join(root, file);
  return existsSync(full) ? JSON.parse(readFileSync(full, 'utf8')).packages : {};
}
