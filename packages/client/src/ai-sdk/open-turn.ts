/** Opens the turn of a call: sends its message, and waits for the first view. */
import { createClient } from '../client.ts';
import type { Client, ClientOptions } from '../client.ts';
import { defaultTiming } from '../retry.ts';
import type { TurnView } from '../turn-view.ts';
import type { Warning } from './parts.ts';
import { callOptionsOf, fromPrompt, warningsFor } from './call.ts';
import type { Call, InterludeCallOptions } from './call.ts';
import { createCallError, fromRefusal } from './turn-end.ts';
import type { CallError } from './turn-end.ts';
import { randomId, toHex } from '../new-message.ts';

export interface TurnOptions extends Omit<ClientOptions, 'baseUrl'> {
  baseURL: string;
  onAbort: 'leave' | 'cancel';
  naming: Naming;
}

export interface OpenTurn {
  agentId: string;
  first: TurnView;
  /** Reads the views after the first. */
  reader: TurnReader;
  client: Client;
  /** Headers of the service's answer. */
  headers: Record<string, string>;
  warnings: Warning[];
  callError: CallError;
  /** To be called when the SDK is going to repeat the call. */
  willRepeat(): void;
}

export async function openTurn(
  agentId: string,
  { baseURL, onAbort, naming, ...options }: TurnOptions,
  call: Call,
): Promise<OpenTurn> {
  const { abortSignal } = call;
  abortSignal?.throwIfAborted();
  const given = callOptionsOf(call);
  const { conversationId, onBusy } = given;
  const { text, earlier, images } = fromPrompt(call, conversationId !== undefined);
  const words = JSON.stringify([agentId, given, earlier, text, ...(images ?? [])]);
  const { messageId, ...key } = await naming.nameCall(words, given);

  const callError = createCallError(baseURL);
  const giveUpMs = options.timing?.giveUpMs ?? defaultTiming.giveUpMs;
  const contact = openContact({ fetch: options.fetch, headers: call.headers, giveUpMs, callError });
  const client = createClient({ ...options, baseUrl: baseURL, fetch: contact.fetch });
  const message = {
    message: { id: messageId, text, ...(images && { images }) },
    agentId,
    ...key,
    ...(onBusy && { onBusy }),
  };
  const reader = openTurnReader({
    start: (signal) =>
      client.start(
        conversationId === undefined ? { ...message, messages: earlier } : { ...message, conversationId },
        { signal: AbortSignal.any([signal, contact.lost]), operations: true },
      ),
    // Only once the turn exists: until then, another turn of a given conversation may be live.
    cancel: async () => client.cancel(conversationOf(await contact.headers)),
    abortSignal,
    onAbort,
  });

  try {
    const first = await reader.next();
    if (!first) throw callError({ message: 'The turn could not be followed.' });
    return {
      agentId,
      first,
      reader,
      client,
      headers: await contact.headers,
      warnings: warningsFor(call, conversationId !== undefined),
      callError,
      willRepeat: () => naming.willRepeat(words, { messageId, ...key }),
    };
  } catch (error) {
    // To cancel the turn, this waits for it to begin.
    if (onAbort === 'leave' || !abortSignal?.aborted) contact.close();
    throw fromRefusal(callError, error);
  }
}

function conversationOf({ 'x-conversation-id': id }: Record<string, string>): string {
  if (id === undefined) throw new Error('The service has not named the conversation.');
  return id;
}

interface TurnReaderOptions {
  start: (signal: AbortSignal) => AsyncGenerator<TurnView, void>;
  /** Stops the turn, once it exists. */
  cancel: () => Promise<unknown>;
  abortSignal: AbortSignal | undefined;
  onAbort: 'leave' | 'cancel';
}

function openTurnReader({ start, cancel, abortSignal, onAbort }: TurnReaderOptions) {
  const reading = new AbortController();
  const views = start(reading.signal);
  let giveUp: (reason: unknown) => void = () => undefined;

  const stopListening = () => abortSignal?.removeEventListener('abort', abort);

  function leave(): void {
    stopListening();
    reading.abort(abortSignal?.reason);
    views.return().catch(() => undefined);
  }

  function abort(): void {
    giveUp(abortSignal?.reason);
    if (onAbort === 'leave') leave();
    // The consumer has left, so a failure is ignored.
    else
      void cancel()
        .catch(() => undefined)
        .finally(leave);
  }

  async function read(): Promise<TurnView | undefined> {
    const view = (await views.next()).value ?? undefined;
    if (view?.status !== 'running') stopListening();
    return view;
  }

  abortSignal?.addEventListener('abort', abort, { once: true });

  return {
    /** Stops reading; the turn goes on. */
    leave,
    /** Undefined after the last view. Rejects as soon as the consumer aborts. */
    next(): Promise<TurnView | undefined> {
      return new Promise((resolve, reject) => {
        giveUp = reject;
        abortSignal?.throwIfAborted();
        read().then(resolve, (error: unknown) => {
          stopListening();
          reject(error);
        });
      });
    },
  };
}

type TurnReader = ReturnType<typeof openTurnReader>;

interface ContactOptions {
  fetch?: typeof globalThis.fetch | undefined;
  headers: Record<string, string | undefined> | undefined;
  giveUpMs: number;
  callError: CallError;
}

/**
 * The requests of one call: adds the call's own headers, and gives up when the message is not accepted in time. After that, the
 * turn exists and is waited for without a limit.
 */
function openContact({ fetch, headers = {}, giveUpMs, callError }: ContactOptions) {
  const lost = new AbortController();
  let trouble: { words: string; statusCode?: number; cause?: unknown } = { words: 'it does not answer' };
  const taken = Promise.withResolvers<Record<string, string>>();
  taken.promise.catch(() => undefined);
  const timer = setTimeout(() => {
    const { words, ...facts } = trouble;
    const message = `Interlude did not say within ${giveUpMs / 1000} s that it took the message: ${words}. Is it running, and is the base URL right?`;
    const error = callError({ message, ...facts });
    taken.reject(error);
    lost.abort(error);
  }, giveUpMs);

  return {
    /** Aborts when the message was not accepted in time. */
    lost: lost.signal,
    /** Headers of the answer that accepted the message; rejects when there was none in time. */
    headers: taken.promise,
    /** Stops the timer. */
    close: () => clearTimeout(timer),
    async fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
      try {
        const response = await (fetch ?? globalThis.fetch)(input, { ...init, headers: both(init, headers) });
        const { status } = response;
        if (response.ok) {
          clearTimeout(timer);
          taken.resolve(Object.fromEntries(response.headers));
        } else {
          trouble = { words: `it answers ${status}`, statusCode: status };
        }
        return response;
      } catch (cause) {
        trouble = { words: 'it cannot be reached', cause };
        throw cause;
      }
    },
  };
}

/** The headers of the call take precedence, as with every provider: a user's token can come with the call. */
function both(init: RequestInit | undefined, given: Record<string, string | undefined>): Headers {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(given)) if (value !== undefined) headers.set(name, value);
  return headers;
}

/**
 * The message id and idempotency key of a call, so that a repeated call does not become a second turn. With
 * `streamRetries`, the SDK repeats a failed call. It signals that by cancelling the stream with the error that came from
 * it; the next call with the same content is the same call.
 */
interface CallNames {
  messageId: string;
  idempotencyKey?: string;
}

/** It repeats the call at once. */
const repeatsWithinMs = 10_000;

export function createNaming(now: () => number = Date.now) {
  let expected: { words: string; names: CallNames; at: number }[] = [];

  return {
    /** `words`: the whole content of a call. */
    async nameCall(words: string, given: InterludeCallOptions) {
      expected = expected.filter(({ at }) => now() - at < repeatsWithinMs);
      const known = expected.find((call) => call.words === words);
      expected = expected.filter((call) => call !== known);
      if (known) return known.names;

      const { conversationId, messageId, idempotencyKey } = given;
      if (idempotencyKey !== undefined)
        // The service compares the requests under one key, and the message id is part of them.
        return { messageId: messageId ?? (await digest(idempotencyKey)), idempotencyKey };
      // Without a conversation, the service cannot look up the message id.
      return {
        messageId: messageId ?? randomId(),
        ...(conversationId === undefined && { idempotencyKey: randomId() }),
      };
    },

    /** The SDK is going to repeat this call. */
    willRepeat(words: string, names: CallNames) {
      expected.push({ words, names, at: now() });
    },
  };
}

type Naming = ReturnType<typeof createNaming>;

async function digest(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
