/** Reads a file of answers: YAML, or JSON, which is YAML as well. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileTrouble } from '../../config/file-trouble.ts';
import { fixtureAnswers } from './fixture.ts';
import type { Fixture } from './fixture.ts';
import type { AnswerSource } from './source.ts';

/** Rejects with the file's name, the place in it and what is wrong there. */
export async function fixtureFile(file: string): Promise<AnswerSource> {
  const { parse } = await import('yaml');
  const name = path.basename(file);
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new Error(`${fileTrouble(file, cause)}.`, { cause });
  });
  try {
    return fixtureAnswers((parse(text) ?? {}) as Fixture, { name });
  } catch (cause) {
    throw new Error(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}
