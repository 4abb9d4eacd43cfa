/** Connects to a server with the SDK's client, in the era that is wanted, and says in words why it could not. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { JsonSchemaValidator, jsonSchemaValidator } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import { errorCodeOf } from '../../remote/error-code.ts';
import { ProcessFailure } from '../../remote/mcp/stdio/process.ts';
import { ResponseTooLarge } from '../../remote/response-body.ts';
import { StdioTransport } from '../../remote/mcp/stdio/transport.ts';
import type { Era } from '../../testing/call/read-answer.ts';
import { clauses } from '../../testing/call/fault.ts';
import { TryError, exitCodes } from './exit-codes.ts';
import { createLongFetch } from './long-fetch.ts';
import type { LongFetch } from './long-fetch.ts';
import type { ServerAccount } from './sign-in/server-account.ts';
import { targetInWords } from './target.ts';
import type { Target } from './target.ts';
import { abortable } from './abortable.ts';
import { howEnded, whyGone } from './why-gone.ts';

export interface ConnectOptions {
  era: Era | 'auto';
  capabilities: Capabilities;
  headers: Headers;
  /** Who the program is at a server over HTTP, unless the headers say so. */
  account?: ServerAccount | undefined;
  timeoutMs: number;
  signal: AbortSignal;
  /** What a process inherits. */
  env: NodeJS.ProcessEnv;
  /** What a process writes to its standard error. */
  onErrorOutput?: (chunk: Buffer) => void;
  /** A line of its standard output that is no message. */
  onStrayLine?: (line: string) => void;
  /** Before anything is sent. */
  onTransport?: (transport: McpTransport) => void | Promise<void>;
}

export type McpTransport = StreamableHTTPClientTransport | StdioTransport;

export interface Connected {
  client: Client;
  transport: McpTransport;
  era: Era;
  version: string;
  server: { name: string; version: string; title?: string | undefined };
  instructions: string | undefined;
  /** Why it says nothing any more, if that is known. */
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

/** Before 2025-11-25 the presence of `elicitation` means forms, whatever is in it. */
function toClientCapabilities({ form, url }: Capabilities) {
  if (!form && !url) return {};
  return { elicitation: { ...(form && { form: {} }), ...(url && { url: {} }) } };
}

/** What is wrong with a result is said here, with its rule. */
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
