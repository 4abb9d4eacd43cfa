/** The sources of answers that the command line names, in its order. */
import { fixtureFile } from '../../testing/answers/fixture-file.ts';
import { declineAll } from '../../testing/answers/source.ts';
import type { AnswerSource } from '../../testing/answers/source.ts';
import { UsageError } from '../command.ts';
import { promptSource } from './prompt-source.ts';
import type { Terminal } from './terminal.ts';

export const sourceOptions = {
  answers: { type: 'strings', value: '<file>', description: 'answer from a file (YAML)' },
  prompt: { type: 'boolean', description: 'ask here in the terminal; the default where there is one' },
  decline: { type: 'boolean', description: 'decline what nothing else answers' },
} as const;

export interface SourcesGiven {
  answers: string[];
  order: readonly string[];
}

/** Throws `UsageError` for files and addresses that are no use, before anything is sent. */
export async function readSources(
  { answers, order }: SourcesGiven,
  { terminal, canPrompt }: { terminal: Terminal; canPrompt: boolean },
): Promise<AnswerSource[]> {
  const files = [...answers];
  const sources: AnswerSource[] = [];
  for (const name of order) {
    if (name === 'answers') sources.push(await asUsage(fixtureFile(files.shift() ?? '')));
    if (name === 'prompt') sources.push(promptSource(terminal));
    if (name === 'decline') sources.push(declineAll);
  }
  const isComplete = order.includes('prompt') || order.includes('decline');
  return isComplete || !canPrompt ? sources : [...sources, promptSource(terminal)];
}

async function asUsage<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
