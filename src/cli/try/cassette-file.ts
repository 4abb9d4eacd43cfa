/** Cassettes in files. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import type { Cassette } from '../../testing/cassette/cassette.ts';
import { UsageError } from '../command.ts';

/** Throws `UsageError`. */
export async function readCassetteFile(file: string): Promise<Cassette> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${file} cannot be read.`, { cause });
  });
  const { readCassette } = await import('../../testing/cassette/cassette.ts');
  try {
    return readCassette(text);
  } catch (cause) {
    throw new UsageError(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Whole, or not at all. */
export async function writeCassetteFile(file: string, text: string): Promise<void> {
  const next = `${file}.${process.pid}`;
  await writeFile(next, text);
  await rename(next, file);
}
