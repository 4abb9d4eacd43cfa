/** The one JSON answer that a turn adds up to. Pure. */
import type { FinishReason } from '../../contract/openai.ts';
import type { LogEntry } from '../../turn/event.ts';
import { plainReader } from '../http/request-headers.ts';
import type { OpenAIError } from './errors.ts';
import { createTranslator } from './translate.ts';
import type { Chunk, CompletionUsage, Reading } from './translate.ts';

export type Outcome =
  | { kind: 'completed'; completion: Completion }
  | { kind: 'failed' | 'cancelled'; error: OpenAIError }
  /** The entries stop before the turn does. */
  | { kind: 'unfinished' };

interface Completion {
  id: string;
  object: 'chat.completion';
  created: number;
  model: string;
  choices: {
    index: 0;
    message: { role: 'assistant'; content: string; refusal: null };
    finish_reason: FinishReason;
    logprobs: null;
  }[];
  usage: CompletionUsage;
}

export function toOutcome(
  entries: LogEntry[],
  { turnId, model }: Pick<Reading, 'turnId' | 'model'>,
): Outcome {
  const end = entries.at(-1)?.event;
  if (end?.type !== 'turn-ended') return { kind: 'unfinished' };
  const translate = createTranslator({ turnId, model, reader: plainReader, includeUsage: true });
  const chunks: Chunk[] = [];
  for (const chunk of entries.flatMap(translate)) {
    if ('error' in chunk)
      return { kind: end.status === 'failed' ? 'failed' : 'cancelled', error: chunk.error };
    chunks.push(chunk);
  }
  const choices = chunks.flatMap((chunk) => chunk.choices);
  const content = choices.map(({ delta }) => delta.content ?? '').join('');
  const last = chunks.at(-1);
  if (!last?.usage) throw new Error('a completed turn ends in its usage');
  return {
    kind: 'completed',
    completion: {
      id: last.id,
      object: 'chat.completion',
      created: last.created,
      model,
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content, refusal: null },
          finish_reason: choices.at(-1)?.finish_reason ?? 'stop',
          logprobs: null,
        },
      ],
      usage: last.usage,
    },
  };
}
