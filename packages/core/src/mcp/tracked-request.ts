/**
 * One HTTP request, and how far it got.
 *
 * This alone decides whether the server can have done anything: undici reports when it begins to write a request to an open
 * socket. Before that, nothing has left this machine; after it, only an answer gives certainty. Errors cannot tell the two
 * apart: a reset can come before or after the server has read the request. What a proxy is asked before that is no request.
 */
import { EnvHttpProxyAgent, fetch as undiciFetch } from 'undici';
import type { Dispatcher, RequestInit as UndiciRequestInit } from 'undici';
import { limitedBody } from './response-body.ts';

/** One JSON-RPC message that was sent. */
export interface Exchange extends RequestTrace {
  method: string;
  id: unknown;
  /** It was sent in a session that the server had opened before. */
  isInSession?: boolean;
}

export interface ExchangeLog {
  last(method?: string): Exchange | undefined;
  /** Resolves when the standing stream is open or refused, if it was requested. */
  listening(): Promise<void>;
  /** Resolves when all notifications were delivered or have failed. */
  settled(): Promise<void>;
}

export interface RequestTrace {
  /** The request began to be written to a socket. */
  isSent: boolean;
  status?: number;
  /** The answer is an event stream, so its message may still come after the headers. */
  isStream: boolean;
  isPage?: boolean;
  /** The answer is declared as JSON, so a program sent it and not a web page. */
  isJson?: boolean;
  /** `WWW-Authenticate` of the answer. */
  challenge: string | null;
  failure?: unknown;
  /** The answer was read to its end. */
  isRead?: boolean;
}

// Streams may be idle for as long as a tool takes, so only the operation's deadline limits them. Idle connections are
// closed early, even if the server offers more: one that died unnoticed would make a call's outcome unknown.
const timeouts = { bodyTimeout: 0, headersTimeout: 0, connect: { timeout: 10_000 } };
const pool = new EnvHttpProxyAgent({ ...timeouts, keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 });
/** Opens a connection for each request. */
const unpooled = new EnvHttpProxyAgent({ ...timeouts, pipelining: 0 });

interface Options {
  signal: AbortSignal;
  /** Called when the request is being written to its socket. Work started there comes after it. */
  onSending?: (() => void) | undefined;
  /** It has no effect, so it may be sent again when a pooled connection turns out to be dead. */
  isHarmless?: boolean;
}

export async function trackedRequest(
  url: string | URL,
  init: RequestInit | undefined,
  trace: RequestTrace,
  { signal, onSending, isHarmless = false }: Options,
): Promise<Response> {
  const request = (agent: Dispatcher) =>
    undiciFetch(url, {
      // A caller that follows redirects has to keep them at the server: our headers are for no other host.
      redirect: 'manual',
      ...(init as UndiciRequestInit),
      signal,
      dispatcher: agent.compose(trackSending(trace, onSending)),
    });
  try {
    const response = (await request(pool).catch((error: unknown) => {
      if (isHarmless && isBroken(error)) return request(unpooled);
      throw error;
    })) as unknown as Response;
    trace.status = response.status;
    const type = response.headers.get('content-type') ?? '';
    trace.isStream = type.startsWith('text/event-stream');
    trace.isPage = /^(text\/html|application\/xhtml)/i.test(type);
    trace.isJson = /[/+]json\b/.test(type);
    trace.challenge = response.headers.get('www-authenticate');
    return withLimitedBody(response, trace);
  } catch (error) {
    trace.failure = error;
    throw error;
  }
}

/** The server closed the connection instead of answering, as it does with one that it has already given up. */
function isBroken(error: unknown): boolean {
  return ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'].includes(errorCodeOf(error));
}

function trackSending(
  trace: RequestTrace,
  onSending: (() => void) | undefined,
): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        trace.isSent = true;
        // The body is written in the same turn of the event loop.
        if (onSending) setImmediate(onSending);
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    });
}

function withLimitedBody(response: Response, trace: RequestTrace): Response {
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const body = limitedBody(response.body, {
    onFailure: (error) => (trace.failure = error),
    onEnd: () => (trace.isRead = true),
  });
  return new Response(body, { status, statusText, headers });
}

/** Why a server could not be reached. Only error codes are read, so no secret can get into the text. */

/** The system's code of an error (`ECONNREFUSED`) or of its causes; empty without one. */
export function errorCodeOf(failure: unknown): string {
  for (let error = failure; error instanceof Error; error = error.cause) {
    if ('code' in error && typeof error.code === 'string') return error.code;
  }
  return '';
}
