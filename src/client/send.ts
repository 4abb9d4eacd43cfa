/**
 * One authorised request. Tells apart what is worth another attempt (nobody there, too busy, restarting:
 * `ConnectionLost`) from what is not (`InterludeError`).
 */
import { InterludeError, toInterludeError } from './interlude-error.ts';
import type { ServiceClock } from './service-clock.ts';

/** A function is asked once, and again when the service no longer accepts what it gave, or when it failed. */
export type Token = string | (() => string | Promise<string>);

export interface Call {
  method: 'DELETE' | 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Answers with a 2xx response, or throws. */
export type Send = (call: Call, signal?: AbortSignal) => Promise<Response>;

interface Options {
  baseUrl: string;
  token: Token;
  forUser?: string;
  fetch?: typeof globalThis.fetch;
  clock?: Pick<ServiceClock, 'hear'>;
}

/** Worth another attempt, at the earliest after `retryAfterMs`. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
  readonly retryAfterMs: number;

  constructor(message: string, { retryAfterMs = 0, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

const temporaryStatuses = new Set([408, 429, 502, 503, 504]);

export function createSend({ baseUrl, token, forUser, fetch = globalThis.fetch, clock }: Options): Send {
  const base = baseUrl.replace(/\/+$/, '');
  let known: string | undefined;

  async function once({ method, path, headers, body }: Call, signal?: AbortSignal): Promise<Response> {
    known ??= typeof token === 'string' ? token : await fetched(token);
    const authorization = `Bearer ${known}`;
    const sentAt = Date.now();
    try {
      const response = await fetch(base + path, {
        method,
        headers: {
          authorization,
          ...(forUser !== undefined && { 'x-interlude-user': forUser }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(signal && { signal }),
      });
      clock?.hear(response, sentAt);
      return response;
    } catch (cause) {
      const hint = 'Is it running, and is the base URL right?';
      throw new ConnectionLost(`${new URL(base).origin} does not answer. ${hint}`, { cause });
    }
  }

  return async (call, signal) => {
    let response = await once(call, signal);
    if (response.status === 401 && typeof token === 'function') {
      await response.body?.cancel();
      known = undefined;
      response = await once(call, signal);
    }
    if (response.ok) return response;
    const error = await toInterludeError(response);
    if (!temporaryStatuses.has(response.status)) throw error;
    throw new ConnectionLost(error.detail, { retryAfterMs: error.retryAfterMs ?? 0, cause: error });
  };
}

/** What to tell a caller who cannot wait any longer. */
export function asInterludeError({ message, cause }: ConnectionLost): InterludeError {
  if (cause instanceof InterludeError) return cause;
  return new InterludeError({ status: 0, code: 'unreachable', detail: message }, { cause });
}

/** Fetched over a line of its own, which may be down for a moment as ours may. */
async function fetched(token: () => string | Promise<string>): Promise<string> {
  try {
    return await token();
  } catch (cause) {
    throw new ConnectionLost('No access token could be fetched.', { cause });
  }
}
