/**
 * Hides the environment of this process. Programs of the same user can read `/proc/<pid>/environ`, the initial
 * environment, for as long as the process lives, so a local server could read our keys from there. The process replaces
 * itself (`execve`) with almost no environment, and passes the rest in a file that is deleted before anything else
 * happens.
 *
 * Runs before the modules of the process are loaded, which would otherwise be loaded twice. No effect on Windows, which
 * does not show environments, and in a child process with an IPC channel.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const handedOn = 'INTERLUDE_ENVIRONMENT';
/** In memory where the system has it, so that the environment never reaches a disk. */
const memoryFolder = '/dev/shm';
/** Read by Node.js and system libraries before our code runs. None of it is secret. */
const isStartedWith = (name: string) =>
  ['PATH', 'HOME', 'USER', 'LANG', 'TZ', 'TMPDIR'].includes(name) || /^(LC|NODE|SSL_CERT|UV)_/.test(name);

export function hideEnvironment(): void {
  const file = process.env[handedOn];
  if (file !== undefined) return takeOver(file);
  // Windows has no `execve`.
  if (!process.execve || process.connected) return;
  const kept = Object.entries(process.env).filter(([name]) => isStartedWith(name));
  const folder = makeFolder();
  const written = path.join(folder, 'environment');
  writeFileSync(written, JSON.stringify(process.env), { mode: 0o600 });
  try {
    process.execve(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], {
      ...Object.fromEntries(kept),
      [handedOn]: written,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function takeOver(file: string): void {
  const environment = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  rmSync(path.dirname(file), { recursive: true });
  delete process.env[handedOn];
  Object.assign(process.env, environment);
}

function makeFolder(): string {
  for (const parent of [memoryFolder, tmpdir()]) {
    try {
      return mkdtempSync(path.join(parent, `interlude-${process.pid}-`));
    } catch {
      continue;
    }
  }
  throw new Error(`No folder for temporary files can be written: neither ${memoryFolder} nor ${tmpdir()}`);
}
