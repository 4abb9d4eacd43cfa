/** A program from the npm registry, in a folder of its own in the user's cache: too large to be a dependency for one test. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../../scripts/setup/tools.mjs';

const run = promisify(execFile);

/** The folder of the package. */
export async function npmProgram(name: string, version: string): Promise<string> {
  const folder = path.join(cacheFolder, 'npm-programs', `${name.replace('/', '-')}-${version}`);
  if (!existsSync(folder)) await install(folder, `${name}@${version}`);
  return path.join(folder, 'node_modules', name);
}

/** Made elsewhere and moved: half an installation is never found. */
async function install(folder: string, requirement: string): Promise<void> {
  await mkdir(path.dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.`);
  try {
    await run('npm', [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--prefix',
      draft,
      requirement,
    ]);
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
