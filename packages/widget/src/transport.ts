/** The transport of `useChat`, over our client, which repairs broken connections: `useChat` sees one stream per turn. */
import type { ChatTransport, UIMessageChunk } from 'ai';
import type { Client } from '@interlude-ai/client/client.ts';
import { waitsForWorker, isText, keyOf } from '@interlude-ai/client/turn-view.ts';
import type { TurnView, Part, TextPart, ToolCallPart } from '@interlude-ai/client/turn-view.ts';
import { imagesOf, textOf } from './message.ts';
import type { Message } from './message.ts';
import { readContext } from './page-context.ts';
import type { PageContext } from './page-context.ts';

interface Options {
  client: Client;
  /** For a new conversation. */
  agent: string | undefined;
  /** What the page shows, read for every message. */
  context: () => PageContext;
  onStatus: (status: 'connected' | 'reconnecting') => void;
  /** A message is being sent, or a live turn was found; the returned function is called when that has ended. */
  onRequest: () => () => void;
  onSending: (message: Message) => void;
  /** The service has accepted the message, or the live turn was found. */
  onBegin: (message?: Message) => void;
  /** The service did not accept the message. */
  onRefused: (message: Message, problem: unknown) => void;
  /** Whether the turn waits for a worker. */
  onWaiting: (isWaiting: boolean) => void;
  /** The turn has failed; its stream contains the reason. */
  onFailed: () => void;
}

export function createTransport(options: Options): ChatTransport<Message> {
  const { client, agent, context, onStatus } = options;
  return {
    async sendMessages({ chatId, messages, abortSignal: signal }) {
      const message = messages.at(-1);
      if (message?.role !== 'user') throw new Error('Only a new message of the user can be sent.');
      const over = options.onRequest();
      options.onSending(message);
      try {
        const shown = await readContext(context());
        const images = imagesOf(message);
        const turn = client.start(
          {
            conversationId: chatId,
            message: {
              id: message.id,
              text: textOf(message),
              ...(images.length > 0 && { images }),
              ...(shown !== undefined && { context: shown }),
            },
            ...(agent !== undefined && { agentId: agent }),
          },
          { onStatus, operations: true, ...(signal && { signal }) },
        );
        const taken = await begun(turn);
        options.onBegin(message);
        return toStream(taken, options, over);
      } catch (error) {
        if (signal?.aborted !== true) options.onRefused(message, error);
        over();
        throw error;
      }
    },
    async reconnectToStream({ chatId, abortSignal: signal }) {
      const { first, turn } = await begun(
        client.follow(chatId, { onStatus, operations: true, ...(signal && { signal }) }),
      );
      if (!first) return null;
      options.onBegin();
      return toStream({ first, turn }, options, options.onRequest());
    },
  };
}

interface Begun {
  first: TurnView | undefined;
  turn: AsyncGenerator<TurnView, void>;
}

/** Reads the first view, so that a refused message is an error of the call. */
async function begun(turn: AsyncGenerator<TurnView, void>): Promise<Begun> {
  const { done, value } = await turn.next();
  return { first: done ? undefined : value, turn };
}

function toStream(
  begun: Begun,
  { onWaiting, onFailed }: Options,
  over: () => void,
): ReadableStream<UIMessageChunk> {
  const views = viewsOf(begun, over);
  let seen: TurnView | undefined;
  return new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      // A pull has to enqueue something, because there is no further one. A view may only contain operations.
      for (let chunks: UIMessageChunk[] = []; chunks.length === 0;) {
        const { done, value } = await views.next();
        if (done) return controller.close();
        onWaiting(waitsForWorker(value));
        if (value.status === 'failed') onFailed();
        chunks = chunksBetween(seen, value);
        for (const chunk of chunks) controller.enqueue(chunk);
        seen = value;
      }
    },
    async cancel() {
      await views.return();
    },
  });
}

async function* viewsOf({ first, turn }: Begun, over: () => void): AsyncGenerator<TurnView, void> {
  try {
    if (first) yield first;
    yield* turn;
  } finally {
    over();
  }
}

// The views of a turn as chunks of the AI SDK: what is new in a view is added, what was removed is taken back.

export function chunksBetween(seen: TurnView | undefined, view: TurnView): UIMessageChunk[] {
  const parts = seen?.parts ?? [];
  const stays = parts.length - partsToReset(parts, view);
  const known = new Map(parts.slice(0, stays).map((part) => [keyOf(part), part]));
  const start: UIMessageChunk[] = seen ? [] : [{ type: 'start', ...idOf(view) }];
  const reset: UIMessageChunk[] = stays < parts.length ? [{ type: 'reset-step' }] : [];
  let step = lastStepOf(parts);
  const grown = view.parts.flatMap((part) => {
    const before = known.get(keyOf(part));
    if (before || !isText(part) || part.step === step) return chunksOf(before, part);
    ({ step } = part);
    return [{ type: 'start-step' } as const, ...chunksOf(before, part)];
  });
  return [...start, ...reset, ...grown, ...endOf(view)];
}

/** How many parts at the end `useChat` drops when a step is reset: all since its first text. */
function partsToReset(seen: readonly Part[], { parts }: TurnView): number {
  const kept = new Set(parts.map(keyOf));
  const gone = seen.find((part) => !kept.has(keyOf(part)));
  if (!gone || !isText(gone)) return 0;
  return seen.length - seen.findIndex((part) => isText(part) && part.step === gone.step);
}

function lastStepOf(parts: readonly Part[]): number | undefined {
  return parts.findLast(isText)?.step;
}

/** The id under which the service lists the message later, so that it is not shown twice. */
function idOf({ turnId }: TurnView) {
  return turnId === null ? {} : { messageId: turnId };
}

function chunksOf(seen: Part | undefined, part: Part): UIMessageChunk[] {
  if (seen === part) return [];
  switch (part.kind) {
    case 'text':
    case 'reasoning':
      return textChunks(seen?.kind === part.kind ? seen : undefined, part);
    case 'tool-call':
      return callChunks(seen?.kind === 'tool-call' ? seen : undefined, part);
    case 'elicitation':
      return [{ type: 'data-elicitation-request', id: part.id, data: part.elicitation }];
    case 'tool-auth-required':
      return [{ type: 'data-tool-auth-required', id: part.id, data: part.notice }];
    default:
      return part satisfies never;
  }
}

function textChunks(seen: TextPart | undefined, { kind, id, text, done }: TextPart): UIMessageChunk[] {
  const delta = text.slice(seen?.text.length ?? 0);
  return [
    ...(seen ? [] : [{ type: `${kind}-start`, id } as const]),
    ...(delta === '' ? [] : [{ type: `${kind}-delta`, id, delta } as const]),
    ...(done && !seen?.done ? [{ type: `${kind}-end`, id } as const] : []),
  ];
}

function callChunks(seen: ToolCallPart | undefined, part: ToolCallPart): UIMessageChunk[] {
  const { id: toolCallId, toolName, input, state } = part;
  const call: UIMessageChunk[] = seen
    ? []
    : [{ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true }];
  if (state.kind === 'running' || seen?.state.kind === state.kind) return call;
  return state.kind === 'done'
    ? [...call, { type: 'tool-output-available', toolCallId, output: state.output, dynamic: true }]
    : [...call, { type: 'tool-output-error', toolCallId, errorText: state.errorText, dynamic: true }];
}

function endOf({ status, errorText }: TurnView): UIMessageChunk[] {
  switch (status) {
    case 'running':
      return [];
    case 'completed':
    case 'unseen':
      return [{ type: 'finish' }];
    case 'failed':
      return [{ type: 'error', errorText: errorText ?? '' }, { type: 'finish' }];
    case 'cancelled':
      return [{ type: 'abort' }];
    default:
      return status satisfies never;
  }
}
