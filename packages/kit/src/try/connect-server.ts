/** Connects to a server with the SDK's client, in the wanted protocol era, and explains failures. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type {
  FetchLike,
  JsonSchemaValidator,
  jsonSchemaValidator,
  Transport,
} from '@modelcontextprotocol/client';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import { errorCodeOf } from '@interlude-ai/core/mcp/tracked-request.ts';
import { readableResponse } from '@interlude-ai/core/mcp/readable-messages.ts';
import { ProcessFailure } from '@interlude-ai/core/mcp/stdio/process.ts';
import { StdioTransport } from '@interlude-ai/core/mcp/stdio/transport.ts';
import { limitedBody, responseLimitBytes, ResponseTooLarge } from '@interlude-ai/core/mcp/response-body.ts';
import type { ToolCallReport } from '../call/call-events.ts';
import { clauses } from '../call/fault.ts';
import type { Era } from '../call/read-answer.ts';
import { exitCodes, TryError, abortable } from './exit-codes.ts';
import { targetInWords } from './read-connection.ts';
import type { Target } from './read-connection.ts';
import type { ServerAccount } from './server-account.ts';

export interface ConnectOptions {
  era: Era | 'auto';
  capabilities: Capabilities;
  headers: Headers;
  /** The account at a server over HTTP, unless the headers have credentials. */
  account?: ServerAccount | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  /** The environment of a process. */
  env: NodeJS.ProcessEnv;
  /** Standard error of a process. */
  onErrorOutput?: (chunk: Buffer) => void;
  /** A line of its standard output that is not a message. */
  onStrayLine?: (line: string) => void;
  /** Called before anything is sent. */
  onTransport?: (transport: McpTransport) => void | Promise<void>;
}

type McpTransport = StreamableHTTPClientTransport | StdioTransport;

export interface Connected {
  client: Client;
  transport: McpTransport;
  era: Era;
  version: string;
  server: { name: string; version: string; title?: string | undefined };
  instructions: string | undefined;
  /** Why the server does not answer any more, if that is known. */
  gone(): Error | undefined;
  close(): Promise<void>;
}

export async function connectServer(target: Target, options: ConnectOptions): Promise<Connected> {
  const { era, capabilities, timeoutMs, signal } = options;
  const requests = createLongFetch();
  const transport = openTransport(target, options, requests);
  const client = new Client(
    { name: 'interlude-try', version: '1' },
    {
      capabilities: toClientCapabilities(capabilities),
      versionNegotiation: {
        mode: era === 'auto' ? 'auto' : era === 'legacy' ? 'legacy' : { pin: '2026-07-28' },
        probe: { timeoutMs },
      },
      jsonSchemaValidator: acceptAnything,
    },
  );
  await options.onTransport?.(transport);
  try {
    await abortable(client.connect(transport, { timeout: timeoutMs }), signal);
  } catch (error) {
    await client.close().catch(() => undefined);
    const gone = whyGone(transport, requests);
    throw connectError(target, gone instanceof ProcessFailure ? gone : error, { ...options, requests });
  }
  return {
    client,
    transport,
    era: client.getProtocolEra() ?? 'legacy',
    version: client.getNegotiatedProtocolVersion() ?? '',
    server: client.getServerVersion() ?? { name: 'server', version: '' },
    instructions: client.getInstructions(),
    gone: () => whyGone(transport, requests),
    async close() {
      await transport.terminateSession().catch(() => undefined);
      await client.close();
    },
  };
}

function openTransport(
  target: Target,
  { headers, account, env, onErrorOutput, onStrayLine }: ConnectOptions,
  requests: LongFetch,
): McpTransport {
  if (target.kind === 'http')
    return new StreamableHTTPClientTransport(target.url, {
      fetch: account ? account.watch(requests.fetch) : requests.fetch,
      requestInit: { headers },
      ...(account && { authProvider: account.authProvider }),
    });
  const variables = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return new StdioTransport(
    { cwd: process.cwd(), ...target, env: variables },
    { onErrorOutput, onStrayLine },
  );
}

/** Before 2025-11-25 the presence of `elicitation` means forms, whatever it contains. */
function toClientCapabilities({ form, url }: Capabilities) {
  if (!form && !url) return {};
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } };
}

/** Results are checked here, with the rule they break. */
const acceptAnything: jsonSchemaValidator = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

function connectError(
  target: Target,
  error: unknown,
  { timeoutMs, headers, era, requests }: ConnectOptions & { requests: LongFetch },
): TryError {
  const name = targetInWords(target);
  const failure = processFailureIn(error);
  if (failure) return new TryError(exitCodes.usage, describeProcess(target, failure), { cause: error });
  const { status, failure: unsent } = requests.last;
  if (status === 401 || status === 403) {
    const remedy = headers.has('authorization')
      ? 'It does not take the token.'
      : 'Give a token with --token, or run it in a terminal, without --json, to sign in.';
    return new TryError(exitCodes.usage, `${name} wants to know who you are (HTTP ${status}). ${remedy}`, {
      cause: error,
    });
  }
  if (status === 404)
    return new TryError(exitCodes.usage, `There is no MCP endpoint at ${name} (HTTP 404).`, { cause: error });
  const isUnsent = unsent !== undefined && !(unsent instanceof ResponseTooLarge);
  if (isUnsent && codeOf(error) !== 'REQUEST_TIMEOUT') {
    const code = errorCodeOf(unsent);
    const why = code === '' ? '' : ` (${code})`;
    return new TryError(
      exitCodes.usage,
      `Nothing answers at ${name}${why}. Check the address, and that the server runs.`,
      { cause: error },
    );
  }
  if (codeOf(error) === 'REQUEST_TIMEOUT')
    return new TryError(exitCodes.timeout, `${name} said nothing for ${timeoutMs / 1_000} s.`, {
      cause: error,
    });
  const words = (error instanceof Error ? error.message : String(error)).replace(/[.:]?$/, '.');
  const asked = era === 'auto' ? '' : ` It was asked to speak the ${era} era.`;
  return new TryError(
    exitCodes.fault,
    `${name} did not shake hands: ${words}${asked}\n  The rule: ${clauses.handshake.text}.\n  ${clauses.handshake.url}`,
    { cause: error },
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function processFailureIn(error: unknown): ProcessFailure | undefined {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof ProcessFailure) return one;
  return undefined;
}

function describeProcess(target: Target, { reason }: ProcessFailure): string {
  const command = target.kind === 'process' ? target.command : '';
  switch (reason.kind) {
    case 'not-found':
      return `${command} cannot be started: there is no such command.`;
    case 'not-executable':
      return `${command} cannot be started: it may not be executed.`;
    case 'no-folder':
    case 'not-permitted-user':
      return `${command} cannot be started here.`;
    case 'not-started':
      return `${command} cannot be started (${reason.code}).`;
    case 'ended':
      return `${command} ended before it answered (${howEnded(reason)}).`;
    default:
      return reason satisfies never;
  }
}

interface LongFetch {
  fetch: FetchLike;
  /** The status of the latest request, or why it has none or was cut off. */
  last: { status?: number; failure?: unknown };
}

/**
 * `fetch` for calls that may wait for people: Node's own gives up a silent response after five minutes. Its replacement is loaded
 * with the first call, so that a list of tools does not wait for it.
 */
function createLongFetch(): LongFetch {
  const last: LongFetch['last'] = {};
  return {
    last,
    async fetch(url, init) {
      try {
        const response = await send(url, init);
        last.status = response.status;
        delete last.failure;
        return await readableResponse(limited(response, (failure) => (last.failure = failure)));
      } catch (failure) {
        delete last.status;
        last.failure = failure;
        throw failure;
      }
    },
  };
}

function limited(response: Response, onFailure: (failure: unknown) => void): Response {
  if (response.body === null) return response;
  const { status, statusText, headers, url } = response;
  const body = limitedBody(response.body, { onFailure, onEnd: () => undefined });
  // The SDK reads the address after redirects from it.
  return Object.defineProperty(new Response(body, { status, statusText, headers }), 'url', { value: url });
}

const send: FetchLike = async (url, init) => {
  if (!mayRest(init)) return fetch(url, init).catch((error: unknown) => sendAgain(error, url, init));
  const { EnvHttpProxyAgent, fetch: undiciFetch } = await import('undici');
  agent ??= new EnvHttpProxyAgent({ bodyTimeout: 0, headersTimeout: 0, pipelining: 0 });
  const fetchLong = undiciFetch as unknown as (url: string | URL, init: object) => Promise<Response>;
  return fetchLong(url, { ...init, dispatcher: agent });
};

/** Its own connections: a call on a connection that the server is about to close could not be repeated. */
let agent: object | undefined;

/** Requests that only read are repeated once if the server closed a kept connection. */
function sendAgain(error: unknown, url: string | URL, init: RequestInit | undefined): Promise<Response> {
  if (init?.signal?.aborted || !['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(errorCodeOf(error)))
    throw error;
  return fetch(url, init);
}

/** Calls, and the open stream of the old era during a call. */
function mayRest(init: RequestInit | undefined): boolean {
  return typeof init?.body === 'string' && init.body.includes('"tools/call"');
}

/** A `ProcessFailure`, or a `ResponseTooLarge`. */
function whyGone(transport: Transport, { last }: Pick<LongFetch, 'last'>): Error | undefined {
  const failure = transport instanceof StdioTransport ? transport.exchanges.last()?.failure : last.failure;
  return failure instanceof ProcessFailure || failure instanceof ResponseTooLarge ? failure : undefined;
}

/** Adds the reason to a call without an answer. */
export function withReason(report: ToolCallReport, gone: Error | undefined): ToolCallReport {
  const { end } = report;
  if (!gone || end.kind !== 'fault' || end.fault.clause !== clauses.answered) return report;
  const message = `It gave no answer to the call: ${goneInWords(gone)}.`;
  return { ...report, end: { kind: 'fault', fault: { ...end.fault, message } } };
}

/** Part of a sentence. */
function goneInWords(gone: Error): string {
  if (gone instanceof ProcessFailure && gone.reason.kind === 'ended')
    return `it ended (${howEnded(gone.reason)})`;
  return `more than ${responseLimitBytes / 1024 / 1024} MB came of it, which is not read any further`;
}

function howEnded({ exitCode, signal }: Extract<ProcessFailure['reason'], { kind: 'ended' }>): string {
  return signal ?? `exit code ${exitCode}`;
}
