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
  const folder = await mkdtemp(path.join((await hasRoom(memory)) ? memory : tmpdir(), 'interlude-tests-'));
  // Some tests run programs as another user.
  await chmod(folder, 0o755);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  return {
    async [Symbol.asyncDispose]() {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function hasRoom(folder: string): Promise<boolean> {
  const room = await statfs(folder).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize > enoughBytes;
}
