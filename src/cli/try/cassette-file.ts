/** Cassettes in files. */
import { randomUUID } from 'node:crypto';
import { access, constants, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Cassette } from '../../testing/cassette/cassette.ts';
import { fileTrouble } from '../../config/file-trouble.ts';
import { UsageError } from '../command.ts';

/** Throws `UsageError`. */
export async function readCassetteFile(file: string): Promise<Cassette> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${fileTrouble(file, cause)}.`, { cause });
  });
  const { readCassette } = await import('../../testing/cassette/cassette.ts');
  try {
    return readCassette(text);
  } catch (cause) {
    throw new UsageError(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Before anything is called that would then not be recorded. Throws `UsageError`. */
export async function checkWritable(file: string): Promise<void> {
  const isFolder = await stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) throw new UsageError(`${file} is a folder.`);
  await access(path.dirname(file), constants.W_OK).catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be written.`, { cause });
  });
}

/** Whole, or not at all, and readable by its owner alone: it has what was said in it. Throws `UsageError`. */
export async function writeCassetteFile(file: string, text: string): Promise<void> {
  const next = `${file}.${randomUUID()}`;
  try {
    await writeFile(next, text, { mode: 0o600, flag: 'wx' });
    await rename(next, file);
  } catch (cause) {
    await rm(next, { force: true });
    throw new UsageError(`${file} cannot be written.`, { cause });
  }
}

/** The calls in it, to be made again. Throws `UsageError` where there is none, and so nothing to compare. */
export async function readCallsToReplay(file: string): Promise<Cassette> {
  const cassette = await readCassetteFile(file);
  if (cassette.exchanges.some(({ request }) => request.method === 'tools/call')) return cassette;
  throw new UsageError(`${file} holds no call of a tool: there is nothing to compare.`);
}
