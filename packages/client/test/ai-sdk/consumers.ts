/** The versions of the AI SDK that are in use, each with the models that are made for it. */
import * as ai7 from 'ai';
import * as ai5 from 'ai5';
import * as ai6 from 'ai6';
import { createInterlude } from '../../src/ai-sdk/index.ts';
import { createWaiting } from '../../../../test/waiting.ts';
import type { ElicitationRequest, InterludeCallOptions, InterludeOptions } from '../../src/ai-sdk/index.ts';

/** Typed as the newest: what the tests use of them has had one shape since version 5. */
type Sdk = Pick<typeof ai7, 'streamText' | 'generateText'>;

export interface Consumer {
  version: 5 | 6 | 7;
  streamText: Sdk['streamText'];
  generateText: Sdk['generateText'];
  modelOf: (options: InterludeOptions, agentId?: string) => ai7.LanguageModel;
}

/** That each model fits its SDK is for the compiler to say. */
const models = {
  modelFor7: (options: InterludeOptions, agentId: string): ai7.LanguageModel =>
    createInterlude(options)(agentId),
  modelFor6: (options: InterludeOptions, agentId: string): ai6.LanguageModel =>
    createInterlude({ ...options, specificationVersion: 'v3' })(agentId),
  modelFor5: (options: InterludeOptions, agentId: string): ai5.LanguageModel =>
    createInterlude({ ...options, specificationVersion: 'v2' })(agentId),
};

function consumer(
  version: Consumer['version'],
  { streamText, generateText }: Sdk,
  modelOf: (options: InterludeOptions, agentId: string) => unknown,
): Consumer {
  return {
    version,
    streamText,
    generateText,
    modelOf: (options, agentId = 'assistant') => modelOf(options, agentId) as ai7.LanguageModel,
  };
}

export const newest: Consumer[] = [consumer(7, ai7, models.modelFor7)];
export const older: Consumer[] = [
  consumer(6, ai6 as unknown as Sdk, models.modelFor6),
  consumer(5, ai5 as unknown as Sdk, models.modelFor5),
];
export const consumers = [...newest, ...older];

export type Part = ai7.TextStreamPart<ai7.ToolSet>;

export interface AskOptions {
  interlude?: InterludeCallOptions;
  /** Instead of the prompt. */
  messages?: ai7.ModelMessage[];
  abortSignal?: AbortSignal;
  temperature?: number;
  streamRetries?: number;
}

/** The stream of an answer as it comes, and what can be awaited in it. */
export interface Asked {
  result: ReturnType<Sdk['streamText']>;
  until(fits: (part: Part) => boolean): Promise<Part>;
  /** The question in this state. */
  question(status: string): Promise<Question>;
  /** All parts. */
  finished: Promise<Part[]>;
}

/** Errors are looked for in the stream. Questions are asked for in the way that the version has. */
export function ask(
  { version, streamText, modelOf }: Consumer,
  options: InterludeOptions,
  prompt: string,
  { interlude, messages, ...more }: AskOptions = {},
): Asked {
  const result = streamText({
    model: modelOf(options),
    ...(messages ? { messages } : { prompt }),
    onError: () => undefined,
    ...(interlude && { providerOptions: { interlude } }),
    ...(version < 7 && { includeRawChunks: true }),
    ...more,
  });
  return { result, ...read(result.fullStream) };
}

export function read(stream: AsyncIterable<Part>): Omit<Asked, 'result'> {
  const parts: Part[] = [];
  const waiting = createWaiting();
  const finished = (async () => {
    try {
      for await (const part of stream) {
        parts.push(part);
        waiting.wake();
      }
      return parts;
    } finally {
      waiting.end(() => new Error(`The stream ended without it: ${JSON.stringify(parts)}`));
    }
  })();
  finished.catch(() => undefined);

  const until = (fits: (part: Part) => boolean) => waiting.until(() => parts.find(fits));

  return {
    finished,
    until,
    async question(status) {
      const [found] = questionsIn([await until((part) => questionsIn([part])[0]?.status === status)]);
      if (!found) throw new Error('it was there a moment ago');
      return found;
    },
  };
}

export type Question = ElicitationRequest & { conversationId: string };

export function questionsIn(parts: Part[]): Question[] {
  return parts.flatMap((part) => {
    if (part.type === 'raw') return [part.rawValue as Question];
    return part.type === 'custom' ? [part.providerMetadata?.['interlude'] as unknown as Question] : [];
  });
}

export const textIn = (parts: Part[]) =>
  parts.flatMap((part) => (part.type === 'text-delta' ? [part.text] : [])).join('');

/** Repetitions left out. */
export const typesIn = (parts: Part[]) =>
  parts.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1]);

export const errorIn = (parts: Part[]) =>
  parts.flatMap((part) => (part.type === 'error' ? [part.error] : []))[0];

/** Why it ended, and which turn it was. */
export function endIn(parts: Part[]) {
  const part = parts.find(({ type }) => type === 'finish-step');
  if (part?.type !== 'finish-step') throw new Error(`No end in ${JSON.stringify(parts)}`);
  return { finishReason: part.finishReason, ...turnIn(part.providerMetadata) };
}

export function turnIn(providerMetadata: Record<string, Record<string, unknown>> | undefined) {
  const { conversationId, turnId, status } = providerMetadata?.['interlude'] ?? {};
  if (typeof conversationId !== 'string' || typeof turnId !== 'string')
    throw new Error(`No turn in ${JSON.stringify(providerMetadata)}`);
  return { conversationId, turnId, status };
}
