/** The transport of `useChat`, over our client, which repairs broken connections: `useChat` sees one stream per turn. */
import type { ChatTransport, UIMessageChunk } from 'ai';
import type { Client } from '@interlude-ai/client/client.ts';
import { waitsForWorker } from '@interlude-ai/client/turn-view.ts';
import type { TurnView } from '@interlude-ai/client/turn-view.ts';
import { textOf } from './message.ts';
import type { Message } from './message.ts';
import { readContext } from './page-context.ts';
import type { PageContext } from './page-context.ts';
import { chunksBetween } from './view-chunks.ts';

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
        const turn = client.start(
          {
            conversationId: chatId,
            message: {
              id: message.id,
              text: textOf(message),
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
