/**
 * Prepares the checkout as far as the command needs it, and runs the program with the Node of the lockfile. Plain
 * JavaScript without packages: a fresh checkout has none installed. The image is complete. The version and help are
 * printed without installing anything.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { forProgram, isThisNode, version } from './node-version.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const page = path.join(root, 'docs/commands.md');
const words = process.argv.slice(2);

if (['--version', '-v', 'version'].includes(words[0] ?? '')) process.stdout.write(`${version}\n`);
else if (words[0] === 'complete' || isAboutHelp()) {
  // The page is in checkouts only; elsewhere everything is installed.
  const isInstalled = existsSync(path.join(root, 'node_modules/commander')) || !existsSync(page);
  if (isThisNode(forProgram) && isInstalled) await runHere();
  else if (words[0] !== 'complete') printFromPage();
} else if (await prepareCheckout()) {
  if (isThisNode(forProgram)) await runHere();
  else handOver(pinnedNode());
}

function isAboutHelp() {
  const ours = words.includes('--') ? words.slice(0, words.indexOf('--')) : words;
  return words.length === 0 || words[0] === 'help' || ours.includes('--help') || ours.includes('-h');
}

/** What commander would print: a test keeps the page up to date. */
function printFromPage() {
  const asked = ['interlude', ...words.filter((word) => !['help', '--help', '-h'].includes(word)), ''];
  const texts = Array.from(readFileSync(page, 'utf8').matchAll(/^## `(.+)`\n\n```text\n([^]*?)\n```$/gm))
    .filter(([, title]) => asked.join(' ').startsWith(`${title} `))
    .map(([, , text = '']) => text.replaceAll('npx interlude', 'node src/cli/interlude.mjs'));
  const isMistake = words.length === 0;
  (isMistake ? process.stderr : process.stdout).write(`${texts.at(-1)}\n`);
  if (isMistake) process.exitCode = 2;
}

async function runHere() {
  keepCompiledCode();
  await import('./checkout.ts');
}

/**
 * Compiling takes a third of the start, so its result is kept beside the bundles while a file is unchanged. Not in
 * Node's usual place, a temporary folder that others can write to. A read-only folder keeps nothing.
 */
function keepCompiledCode() {
  const folder = path.join(root, 'build/compiled');
  // A given folder is kept, and threads only learn of it this way.
  process.env.NODE_COMPILE_CACHE ??= folder;
  module.enableCompileCache(folder);
}

/** The image has no set-up. False when the set-up failed; it has printed why. */
async function prepareCheckout() {
  const setUp = path.join(root, 'scripts/setup/prepare.mjs');
  // A process that hides its environment starts itself again, still without its environment: see hide-environment.ts.
  const isSecondStart = process.env.INTERLUDE_ENVIRONMENT !== undefined;
  if (isSecondStart || !existsSync(setUp)) return true;
  const { prepare } = await import(pathToFileURL(setUp).href);
  return prepare(['start', 'dev'].includes(words[0] ?? '') ? ['temporal'] : []);
}

/** The Node of the lockfile. If there is none, the set-up has refused an older one. */
function pinnedNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const program = process.platform === 'win32' ? 'node.exe' : 'node';
  return path.join(root, `node_modules/node-${platform}-${process.arch}/bin`, program);
}

/** @param {string} node */
function handOver(node) {
  const child = spawn(node, [path.join(root, 'src/cli/interlude.mjs'), ...words], { stdio: 'inherit' });
  // A terminal sends Ctrl+C to both processes.
  process.on('SIGINT', () => process.stdin.isTTY || child.kill('SIGINT'));
  for (const signal of /** @type {const} */ (['SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal));
  child.once('error', (error) => {
    process.stderr.write(
      `Interlude needs Node ${forProgram} or newer, and ${node} does not start (${error.message}): install Node ${forProgram} from https://nodejs.org, or run npm ci.\n`,
    );
    process.exitCode = 1;
  });
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (signal ? constants.signals[signal] : 0);
  });
}
