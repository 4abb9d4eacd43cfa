/**
 * Sends one authorised request. Separates failures that are worth a retry (no answer, overloaded, restarting:
 * `ConnectionLost`) from all others (`InterludeError`).
 */
import { InterludeError, toInterludeError } from './interlude-error.ts';
import { clientHeader, thisClient } from '@interlude-ai/core/contract/version.ts';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';

/** A function is called once, and again when the service no longer accepts its token, or when it failed. */
export type Token = string | (() => string | Promise<string>);

export interface Call {
  method: 'DELETE' | 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** Returns a 2xx response, or throws. */
export type Send = (call: Call, signal?: AbortSignal) => Promise<Response>;

interface Options {
  baseUrl: string;
  token: Token;
  forUser?: string;
  language?: string;
  fetch?: typeof globalThis.fetch;
  clock?: Pick<ServiceClock, 'hear'>;
}

/** Worth a retry, after `retryAfterMs` at the earliest. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost';
  readonly retryAfterMs: number;

  constructor(message: string, { retryAfterMs = 0, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

const temporaryStatuses = new Set([408, 429, 502, 503, 504]);
/** A limit of requests ends within this time; one of a day is for the caller to know. */
const longestLimitMs = 60_000;

function isLongLimit({ status, retryAfterMs = 0 }: InterludeError): boolean {
  return status === 429 && retryAfterMs > longestLimitMs;
}

export function createSend(options: Options): Send {
  const { baseUrl, token, forUser, language, fetch = globalThis.fetch, clock } = options;
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
          [clientHeader]: thisClient,
          ...(forUser !== undefined && { 'x-interlude-user': forUser }),
          ...(language !== undefined && { 'x-user-language': language }),
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
    if (!temporaryStatuses.has(response.status) || isLongLimit(error)) throw error;
    throw new ConnectionLost(error.detail, { retryAfterMs: error.retryAfterMs ?? 0, cause: error });
  };
}

/** The error for a caller that has stopped retrying. */
export function asInterludeError({ message, cause }: ConnectionLost): InterludeError {
  if (cause instanceof InterludeError) return cause;
  return new InterludeError({ status: 0, code: 'unreachable', detail: message }, { cause });
}

/** A failure counts as a lost connection: the connection of the token function may be down for a moment, too. */
async function fetched(token: () => string | Promise<string>): Promise<string> {
  try {
    return await token();
  } catch (cause) {
    throw new ConnectionLost('No access token could be fetched.', { cause });
  }
}

export function chatPath(conversationId: string): string {
  return `/run/api/chat/${encodeURIComponent(conversationId)}`;
}

export function conversationPath(conversationId: string): string {
  return `/run/v1/conversations/${encodeURIComponent(conversationId)}`;
}

export function withQuery(
  path: string,
  members: Record<string, string | number | boolean | undefined>,
): string {
  const given = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

export function capabilityHeader(capabilities: Capabilities | undefined): Record<string, string> {
  const modes = Object.entries(capabilities ?? {}).flatMap(([mode, can]) => (can ? [mode] : []));
  return modes.length > 0 ? { 'x-supports-elicitation': modes.join(',') } : {};
}

/**
 * The service's time, from the `Date` headers of its answers. One answer is not exact: it was written between its request
 * and its arrival, and in whole seconds. So the known offset is only moved as far as an answer contradicts it, and a
 * correct clock stays as it is.
 */
export function createServiceClock() {
  let aheadMs = 0;
  return {
    /** In milliseconds since 1970; the local time until the first answer. */
    now: () => Date.now() - aheadMs,
    /** `sentAt`: when the request was sent, by the local clock. */
    hear({ headers }: Response, sentAt: number) {
      const second = Date.parse(headers.get('date') ?? '');
      // Proxies and browsers may hide the header.
      if (Number.isNaN(second)) return;
      const least = sentAt - (second + 999);
      const most = Date.now() - second;
      aheadMs = Math.min(Math.max(aheadMs, least), most);
    },
  };
}

type ServiceClock = ReturnType<typeof createServiceClock>;
