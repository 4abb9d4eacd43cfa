/**
 * One model call as a stream of parts, which ends with what the model decided. The AI SDK talks to the provider. All
 * failures of the call are thrown as `ModelCallError`, and nothing else is, so that a failure of our own database never
 * passes for the model's.
 */
import { jsonSchema, NoSuchToolError, streamText } from 'ai';
import type {
  AssistantModelMessage,
  FinishReason,
  LanguageModel,
  ModelMessage,
  TextStreamPart,
  ToolSet,
} from 'ai';
import type { ModelSettings } from '../platform/config/agents-file/agents-file.ts';
import type { CallFailure } from '../turn/call-failure.ts';
import type { Usage } from '../turn/turn.ts';
import { classifyModelError, ModelStalledError } from './model-failure.ts';
import type { ModelFailure, ModelIdentity } from './model-failure.ts';

export type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

export type StepPart =
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'done'; finish: FinishReason; usage: Usage; content: AssistantPart[]; mistakes: Mistakes };

/** Tool calls that cannot be made, by call id, with the message for the model. */
export type Mistakes = Map<string, CallFailure>;

interface StepRequest {
  model: LanguageModel;
  identity: ModelIdentity;
  instructions: string;
  settings: ModelSettings;
  messages: ModelMessage[];
  tools: { modelName: string; description: string; inputSchema: Record<string, unknown> }[];
  signal: AbortSignal;
  silenceLimits: SilenceLimits;
}

/** How long the model may be silent before the call counts as failed, in milliseconds. */
export interface SilenceLimits {
  firstMs: number;
  nextMs: number;
}

export class ModelCallError extends Error {
  override name = 'ModelCallError';
  readonly failure: ModelFailure;
  constructor(failure: ModelFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Ends without `done` only when `signal` aborts. */
export async function* streamStep(request: StepRequest): AsyncGenerator<StepPart> {
  const { identity, signal } = request;
  try {
    yield* parts(request);
  } catch (error) {
    if (!signal.aborted) throw new ModelCallError(classifyModelError(error, identity));
  }
}

async function* parts(request: StepRequest): AsyncGenerator<StepPart> {
  const { model, instructions, settings, messages, signal, silenceLimits } = request;
  const { providerOptions = {}, ...common } = settings;
  const result = streamText({
    ...withoutUndefined(common),
    model,
    messages: wellFormed(messages) as ModelMessage[],
    ...(instructions !== '' && { instructions }),
    tools: toToolSet(request.tools),
    // Temporal repeats the call, which is visible in the history.
    maxRetries: 0,
    abortSignal: signal,
    timeout: { firstChunkMs: silenceLimits.firstMs, chunkMs: silenceLimits.nextMs },
    // We keep the history, so OpenAI need not store it; reasoning is then contained in the messages.
    providerOptions: { ...providerOptions, openai: { store: false, ...providerOptions['openai'] } },
    // Errors are parts of the stream. The default handler would print them, including the prompt.
    onError: () => undefined,
  });
  const mistakes: Mistakes = new Map();
  for await (const part of result.stream) {
    switch (part.type) {
      case 'text-start':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-end':
        yield { type: part.type, id: part.id };
        break;
      case 'text-delta':
      case 'reasoning-delta':
        if (part.text !== '') yield { type: part.type, id: part.id, delta: part.text };
        break;
      case 'tool-call': {
        const mistake = mistakeIn(part, request.tools);
        if (mistake !== undefined) mistakes.set(part.toolCallId, mistake);
        break;
      }
      case 'error':
        throw part.error;
      case 'abort':
        throw new ModelStalledError('The model fell silent.');
      case 'finish': {
        const { finishReason: finish, totalUsage } = part;
        if (finish === 'error' || finish === 'interrupted')
          throw new ModelStalledError('The model broke off.');
        const usage = {
          inputTokens: totalUsage.inputTokens ?? 0,
          outputTokens: totalUsage.outputTokens ?? 0,
        };
        yield { type: 'done', finish, usage, content: contentOf(await result.responseMessages), mistakes };
        break;
      }
      default:
        // Sources, files and raw chunks are not supported.
        break;
    }
  }
}

/** Providers reject the whole request because of a lone surrogate. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key.toWellFormed(), wellFormed(one)]));
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The SDK distinguishes missing and undefined members. */
function withoutUndefined<T extends object>(settings: T): Given<T> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Given<T>;
}

function toToolSet(tools: StepRequest['tools']): ToolSet {
  return Object.fromEntries(
    tools.map(({ modelName, description, inputSchema }) => {
      // Some providers require `properties`, which MCP servers omit for tools without parameters.
      return [
        modelName,
        { description, inputSchema: jsonSchema({ type: 'object', properties: {}, ...inputSchema }) },
      ];
    }),
  );
}

function mistakeIn(
  call: Extract<TextStreamPart<ToolSet>, { type: 'tool-call' }>,
  tools: StepRequest['tools'],
): CallFailure | undefined {
  const { toolName: tool, input } = call;
  if (call.invalid === true && NoSuchToolError.isInstance(call.error))
    return { code: 'no_tool', tool, tools: tools.map(({ modelName }) => modelName) };
  if (call.invalid !== true && typeof input === 'object' && input !== null && !Array.isArray(input))
    return undefined;
  return { code: 'bad_arguments', tool };
}

function contentOf(messages: { role: string; content: unknown }[]): AssistantPart[] {
  const assistant = messages.find(
    (message): message is AssistantModelMessage => message.role === 'assistant',
  );
  if (!assistant) return [];
  return typeof assistant.content === 'string'
    ? [{ type: 'text', text: assistant.content }]
    : assistant.content;
}
