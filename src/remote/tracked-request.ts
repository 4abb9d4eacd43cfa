/**
 * One HTTP request, and how far it got.
 *
 * Whether anything can have been done at the other side is decided by this and nothing else: undici says when it begins to
 * write a request to an open socket. Before that moment nothing left this machine; after it, only an answer brings
 * certainty. Errors cannot tell the two apart (a reset can come before or after the server read the request).
 */
import { Agent, fetch as undiciFetch } from 'undici';
import type { Dispatcher, RequestInit as UndiciRequestInit } from 'undici';
import { errorCodeOf } from './error-code.ts';
import { limitedBody } from './response-body.ts';

export interface RequestTrace {
  /** The request began to leave this machine. */
  isSent: boolean;
  status?: number;
  /** The answer comes as a stream, so it may still come after the response has begun. */
  isStream: boolean;
  /** The answer is a page for people. */
  isPage?: boolean;
  /** The answer calls itself JSON, so that it came from a program and not from a page. */
  isJson?: boolean;
  /** `WWW-Authenticate` of the answer. */
  challenge: string | null;
  /** Why there is no answer. */
  failure?: unknown;
  /** The answer was read to its end. */
  isRead?: boolean;
}

// Streams may rest for as long as a tool takes: the operation's own deadline is the only clock. Idle connections are
// given up soon, whatever the server offers: one that died unnoticed would turn a call's outcome into "unknown".
const timeouts = { bodyTimeout: 0, headersTimeout: 0, connect: { timeout: 10_000 } };
const pool = new Agent({ ...timeouts, keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 });
/** Opens a connection for each request. */
const unpooled = new Agent({ ...timeouts, pipelining: 0 });

interface Options {
  signal: AbortSignal;
  /** Called when the request is being written to its socket; what is begun from there comes after it. */
  onSending?: (() => void) | undefined;
  /** Nothing is done by it, so that it may be sent again when a pooled connection turns out to be dead. */
  isHarmless?: boolean;
}

export async function trackedRequest(
  url: string | URL,
  init: RequestInit | undefined,
  trace: RequestTrace,
  { signal, onSending, isHarmless = false }: Options,
): Promise<Response> {
  const request = (agent: Agent) =>
    undiciFetch(url, {
      // Whoever wants them followed sees to it that they stay with the server: what we send is for nobody else.
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

/** The other side closed the connection instead of answering, as it does with one that it has already given up. */
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
