/**
 * The line to the service for one call: adds the call's own headers, and gives up when nobody has taken the message
 * for a while. From then on the turn is there, and is waited for however long it takes.
 */
import type { CallError } from './call-error.ts';

export interface Contact {
  fetch: typeof globalThis.fetch;
  /** Of the answer that took the message; rejects when none did in time. */
  headers: Promise<Record<string, string>>;
  /** Aborts when none did in time. */
  lost: AbortSignal;
  /** Nobody waits any more. */
  close(): void;
}

interface ContactOptions {
  fetch?: typeof globalThis.fetch | undefined;
  headers: Record<string, string | undefined> | undefined;
  giveUpMs: number;
  callError: CallError;
}

export function openContact({ fetch, headers = {}, giveUpMs, callError }: ContactOptions): Contact {
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
    lost: lost.signal,
    headers: taken.promise,
    close: () => clearTimeout(timer),
    async fetch(input, init) {
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

/** The caller's win, as with every provider: a user's token can come with the call. */
function both(init: RequestInit | undefined, given: Record<string, string | undefined>): Headers {
  const headers = new Headers(init?.headers);
  for (const [name, value] of Object.entries(given)) if (value !== undefined) headers.set(name, value);
  return headers;
}
