/** Cassettes in files. */
import { randomUUID } from 'node:crypto';
import { access, constants, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileTrouble } from '@interlude-ai/core/file-trouble.ts';
import type { Cassette } from '../cassette/cassette.ts';
import { UsageError } from '../terminal/command.ts';

/** Reads a file that the command line names. Throws `UsageError` if it cannot be read or parsed. */
export async function readGivenFile<T>(file: string, parse: (text: string) => T): Promise<T> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${fileTrouble(file, cause)}.`, { cause });
  });
  try {
    return parse(text);
  } catch (cause) {
    throw new UsageError(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Throws `UsageError`. */
export async function readCassetteFile(file: string): Promise<Cassette> {
  const { readCassette } = await import('../cassette/cassette.ts');
  return readGivenFile(file, readCassette);
}

/** Called before anything is sent that could then not be recorded. Throws `UsageError`. */
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

/** Atomic, and readable by its owner alone, because it contains messages. Throws `UsageError`. */
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

/** For replaying the calls in it. Throws `UsageError` when it has none. */
export async function readCallsToReplay(file: string): Promise<Cassette> {
  const cassette = await readCassetteFile(file);
  if (cassette.exchanges.some(({ request }) => request.method === 'tools/call')) return cassette;
  throw new UsageError(`${file} holds no call of a tool: there is nothing to compare.`);
}
