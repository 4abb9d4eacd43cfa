/**
 * The folder for temporary files of the whole run, of its processes and of theirs. In memory where there is room: a
 * commit of SQLite waits for the disk otherwise, which is a third of the time that many test files take.
 */
import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const memory = '/dev/shm';
const enoughBytes = 2 * 2 ** 30;

export async function openRunFolder(): Promise<AsyncDisposable> {
  const folder = await mkdtemp(path.join((await hasRoom(memory)) ? memory : tmpdir(), 'tests-of-interlude-'));
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

async function hasRoom(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > enoughBytes;
}
