/**
 * What the steps of the set-up share. A step logs to standard error (standard output belongs to the command that follows)
 * what it does before it takes long, and how long it took; a step that is done already logs nothing.
 */
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export class SetupError extends Error {}

/** @param {string} text */
export function say(text) {
  process.stderr.write(`set-up: ${text}\n`);
}

/**
 * @template T @param {string} what @param {() => Promise<T>} work
 * @param {string} [expected] how long it usually takes
 */
export async function timed(what, work, expected) {
  say(expected === undefined ? `${what} …` : `${what}, ${expected} …`);
  const started = performance.now();
  const ticking = setInterval(() => say(`${what}: ${seconds(started)} so far`), 10_000);
  try {
    const result = await work();
    say(`${what}: done in ${seconds(started)}`);
    return result;
  } finally {
    clearInterval(ticking);
  }
}

/** @param {number} started */
const seconds = (started) => `${((performance.now() - started) / 1000).toFixed(1)} s`;

/**
 * Runs a command; its output is shown only when it fails.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnOptions} options
 */
export async function run(command, args, options = {}) {
  const shell = process.platform === 'win32';
  const child = spawn(command, args, { ...options, shell, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout?.on('data', (chunk) => (output += chunk));
  child.stderr?.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (status, signal) => resolve(status ?? signal));
  });
  if (code === 0) return output;
  const lines = output.trim().split('\n');
  const shown = lines.length > 60 ? [...lines.slice(0, 20), '…', ...lines.slice(-40)] : lines;
  throw new SetupError(`${command} ${args.join(' ')} failed (${code})\n${shown.join('\n')}`);
}

/** @param {string} name as typed in a shell */
export function onPath(name) {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    for (const ending of endings) {
      const file = path.join(folder, name + ending);
      if (isFile(file)) return file;
    }
  }
  return undefined;
}

/** False also in a folder that cannot be read. @param {string} file */
function isFile(file) {
  try {
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * Fills `folder` once and atomically: it is built under another name, then renamed. A lock keeps two set-ups (of any
 * checkout) from building at the same time; the second finds the folder filled.
 * @param {string} folder @param {(draft: string) => Promise<void>} build
 */
export async function installInto(folder, build) {
  await whileLocked(`${folder}.lock`, async () => {
    if (existsSync(folder)) return;
    const draft = mkdtempSync(`${folder}.draft-`);
    try {
      await build(draft);
      renameInto(draft, folder);
    } finally {
      rmSync(draft, { recursive: true, force: true });
    }
  });
}

/** @param {string} draft @param {string} folder */
function renameInto(draft, folder) {
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

/** @template T @param {string} file @param {() => Promise<T>} work */
export async function whileLocked(file, work) {
  mkdirSync(path.dirname(file), { recursive: true });
  for (let waited = 0; !takeLock(file); waited += 1) {
    if (waited === 1) say(`waiting for another set-up (process ${lockHolder(file)})`);
    await sleep(500);
  }
  const release = () => rmSync(file, { force: true });
  const stop = (/** @type {'SIGINT' | 'SIGTERM'} */ signal) => {
    release();
    process.exit(128 + constants.signals[signal]);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await work();
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    release();
  }
}

/** @param {string} file */
function takeLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (!existsSync(file) && /** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    const holder = lockHolder(file);
    if (holder !== undefined && !isAlive(holder)) rmSync(file, { force: true });
    return false;
  }
}

/** @param {string} file */
function lockHolder(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
