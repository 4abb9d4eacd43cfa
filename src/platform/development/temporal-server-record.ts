/** Records which process runs the embedded Temporal of a data folder, for the next start. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

interface ServerRecord {
  server: number;
  owner: number;
}

export function recordServer(dataDir: string, server: number | undefined): void {
  if (server === undefined) return;
  const record: ServerRecord = { server, owner: process.pid };
  writeFileSync(fileIn(dataDir), JSON.stringify(record), { mode: 0o600 });
}

/** The process id of the last server on this folder. */
export function recordedServer(dataDir: string): number | undefined {
  return read(dataDir)?.server;
}

/** Ends a server whose owner is gone; refuses while the owner is alive. */
export async function clearLeftover(dataDir: string, database: string): Promise<void> {
  const record = read(dataDir);
  if (!record || !runs(record.server, database)) return;
  // A server ends shortly after its owner was killed.
  for (let waited = 0; waited < 20 && isAlive(record.owner) && runs(record.server, database); waited += 1)
    await sleep(50);
  if (!runs(record.server, database)) return;
  if (isAlive(record.owner)) {
    throw new AlreadyRunning(
      `Interlude is already running on the data in ${dataDir} (process ${record.owner}). Stop it, or set INTERLUDE_DATA to another folder.`,
    );
  }
  process.kill(record.server, 'SIGKILL');
  while (runs(record.server, database)) await sleep(20);
}

class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

const fileIn = (dataDir: string) => path.join(dataDir, 'temporal.json');

function read(dataDir: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as ServerRecord;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Process ids are reused, so the command line must contain our file as well. */
function runs(pid: number, database: string): boolean {
  if (!isAlive(pid) || process.platform === 'win32') return false;
  try {
    return execFileSync('ps', ['-ww', '-p', String(pid), '-o', 'args='], { encoding: 'utf8' }).includes(
      database,
    );
  } catch {
    return false;
  }
}
