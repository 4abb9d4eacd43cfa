/**
 * The folder for temporary files of the whole run, of its processes and of theirs. In memory where there is room: a
 * commit of SQLite waits for the disk otherwise, which is a third of the time that many test files take.
 */
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const memory = '/dev/shm';
const enoughBytes = 2 * 2 ** 30;

export async function openRunFolder(): Promise<AsyncDisposable> {
  for (const parent of [memory, tmpdir()]) await removeLeftFolders(parent);
  const parent = (await hasRoom(memory)) ? memory : tmpdir();
  const folder = await mkdtemp(path.join(parent, `tests-of-interlude-${process.pid}-`));
  // Some tests run programs as another user.
  await chmod(folder, 0o755);
  const { TMPDIR: before } = process.env;
  process.env['TMPDIR'] = folder;
  // What one process has compiled the next one takes from here: a third of what it costs to start the program.
  process.env['NODE_COMPILE_CACHE'] = path.join(folder, 'compiled');
  return {
    async [Symbol.asyncDispose]() {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      delete process.env['NODE_COMPILE_CACHE'];
      // Processes that end at this moment still write to their compile cache.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

/** A run that is killed leaves its folder, in memory. Its name says which process it was of. */
export async function removeLeftFolders(parent: string): Promise<void> {
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const [, pid] = /^tests-of-interlude-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || isRunning(Number(pid))) continue;
    await rm(path.join(parent, name), { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function hasRoom(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > enoughBytes;
}
