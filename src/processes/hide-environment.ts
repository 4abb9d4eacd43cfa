/**
 * Takes the environment out of what the system shows of this process. Programs of the same user read
 * `/proc/<pid>/environ`, which holds what the process was started with for as long as it lives: so a server that we
 * start as a process could read our keys, whatever it is given itself. The process replaces itself by one that was
 * started with next to nothing, and hands the rest on in a file that is gone before anything else begins.
 *
 * Runs before the modules of the process are loaded, which would otherwise be loaded twice. Without effect on
 * Windows, which does not show environments, and in a process that has a channel to the one that started it.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const handedOn = 'INTERLUDE_ENVIRONMENT';
/** In memory, where the system has it: what is handed on never reaches a disk. */
const memoryFolder = '/dev/shm';
/** What Node.js and the system's libraries read before our code runs. None of it is a secret. */
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
