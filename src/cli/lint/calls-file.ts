/** A file of calls: for each tool the arguments it is to be called with, a list of them, or `skip`. */
import { readFile } from 'node:fs/promises';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { fileTrouble } from '../../config/file-trouble.ts';
import { UsageError } from '../command.ts';

export type Calls = ReadonlyMap<string, Record<string, unknown>[] | 'skip'>;

/** Throws `UsageError` with the file's name and what is wrong in it. */
export async function readCallsFile(file: string): Promise<Calls> {
  const { parse } = await import('yaml');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${fileTrouble(file, cause)}.`, { cause });
  });
  let given: unknown;
  try {
    given = parse(text) ?? {};
  } catch (cause) {
    throw new UsageError(`${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
  const tools = isRecord(given) ? (given['tools'] ?? {}) : given;
  const surplus = isRecord(given) ? Object.keys(given).find((name) => name !== 'tools') : undefined;
  if (!isRecord(tools) || surplus !== undefined)
    throw new UsageError(`${file}: write "tools:", and below it the arguments of each tool.`);
  return new Map(Object.entries(tools).map(([tool, value]) => [tool, readCalls(file, tool, value)]));
}

function readCalls(file: string, tool: string, value: unknown): Record<string, unknown>[] | 'skip' {
  if (value === 'skip') return 'skip';
  const calls = [value ?? {}].flat();
  if (calls.length === 0 || !calls.every(isRecord))
    throw new UsageError(`${file}: ${tool}: write its arguments, a list of arguments, or skip.`);
  return calls;
}
