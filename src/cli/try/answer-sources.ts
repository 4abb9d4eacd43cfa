/** The sources of answers that the command line names, in its order. */
import { fixtureFile } from '../../testing/answers/fixture-file.ts';
import { responder } from '../../testing/answers/responder.ts';
import { declineAll } from '../../testing/answers/source.ts';
import type { AnswerSource } from '../../testing/answers/source.ts';
import { UsageError } from '../command.ts';
import { readTimeout } from './read-connection.ts';
import { readHeaders } from './read-headers.ts';
import { promptSource } from './prompt-source.ts';
import type { Terminal } from './terminal.ts';

export interface SourcesGiven {
  answers: string[];
  responder: string[];
  'responder-header': string[];
  'responder-timeout': string;
  order: readonly string[];
}

/** Throws `UsageError` for files and addresses that are no use, before anything is sent. */
export async function readSources(
  { order, ...given }: SourcesGiven,
  { terminal, canPrompt }: { terminal: Terminal; canPrompt: boolean },
): Promise<AnswerSource[]> {
  const [files, addresses] = [[...given.answers], [...given.responder]];
  const headers = Object.fromEntries(readHeaders(given['responder-header'], '--responder-header'));
  const timeoutMs = readTimeout('--responder-timeout', given['responder-timeout']);
  const sources: AnswerSource[] = [];
  // Without a terminal, the prompt leaves its questions to the other sources.
  const isPrompted =
    terminal.isTyped || !order.some((name) => ['answers', 'responder', 'decline'].includes(name));
  for (const name of order) {
    if (name === 'answers') sources.push(await asUsage(() => fixtureFile(files.shift() ?? '')));
    if (name === 'responder')
      sources.push(await asUsage(async () => responder(addresses.shift() ?? '', { headers, timeoutMs })));
    if (name === 'prompt' && isPrompted) sources.push(promptSource(terminal));
    if (name === 'decline') sources.push(declineAll);
  }
  const isComplete = order.includes('prompt') || order.includes('decline');
  return isComplete || !canPrompt ? sources : [...sources, promptSource(terminal)];
}

/** Throws `UsageError` for files that are no use. */
export async function readFiles(files: readonly string[]): Promise<AnswerSource[]> {
  return Promise.all(files.map((file) => asUsage(() => fixtureFile(file))));
}

async function asUsage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
