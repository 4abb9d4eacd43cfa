/**
 * `interlude mcp`: an MCP server on stdio that is the service's one over HTTP. Messages pass unchanged, in both protocol eras. After
 * a lost connection a request is sent again with the same idempotency key, so that a restart of the service is a pause.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { TokenSource } from '../login/find-token.ts';
import { clientHeader, thisClient } from '@interlude-ai/core/contract/version.ts';
import { ourCommand } from '@interlude-ai/kit/terminal/program-command.ts';
import { demoUserOption, readService, serviceOption } from './service-options.ts';

export function mcp(): CommandUnknownOpts {
  return new Command('mcp')
    .description('offer the agents as an MCP server on stdio, for editors and desktop programs')
    .option('--agent <name>', 'offer this agent only (default: all of them)')
    .addOption(serviceOption)
    .addOption(demoUserOption)
    .addHelpText(
      'after',
      `
For the configuration of an MCP client, which starts it. It acts as you: with
INTERLUDE_TOKEN, or with the login of ${ourCommand('login')}; at the demo, as
alice.`,
    )
    .action(async ({ agent, service: given, as }) => {
      const [{ findToken }, { createKeptLogins, loginsFolder }, { serviceAddress }] = await Promise.all([
        import('../login/find-token.ts'),
        import('@interlude-ai/kit/terminal/kept-files.ts'),
        import('../login/sign-in-server.ts'),
      ]);
      const service = serviceAddress(readService(given));
      const logins = createKeptLogins(loginsFolder(process.env));
      const tokens = await findToken(logins, { service, token: process.env['INTERLUDE_TOKEN'], as });
      const address = new URL(`${service}/run/v1/mcp`);
      if (agent !== undefined) address.searchParams.set('agent', agent);
      await serveStdio({ address: address.href, tokens, input: process.stdin, output: process.stdout });
    });
}

interface Parts {
  /** The address of the service's MCP server. */
  address: string;
  tokens: Pick<TokenSource, 'token'>;
  input: Readable;
  output: Writable;
}

const firstPauseMs = 500;
const longestPauseMs = 15_000;
/** Refused by the service or a proxy in front of it: the same request may succeed later. */
const passing = new Set([408, 425, 429, 502, 503, 504]);
const internalError = -32603;

/** Serves until `input` ends. */
export async function serveStdio(parts: Parts): Promise<void> {
  const bridge = new Bridge(parts);
  for await (const line of createInterface({ input: parts.input, crlfDelay: Infinity }))
    if (line.trim() !== '') bridge.take(line);
  await bridge.close();
}

class Bridge {
  readonly #parts: Parts;
  /** Requests of the client without a response. */
  readonly #open = new Map<string, AbortController>();
  /** Requests of the service that the client has received: a repeated stream contains them again. */
  readonly #asked = new Set<string>();
  readonly #closed = new AbortController();
  /** Old era: the request that began the session, to begin another one when it is gone. */
  #initialize: Message | undefined;
  #session: string | undefined;
  #version: string | undefined;
  #token: string | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  take(line: string): void {
    const message = readMessage(line);
    if (message === null) return this.#write({ jsonrpc: '2.0', id: null, error: notJson });
    if (message.method === 'initialize') this.#initialize = message;
    if (message.method === 'notifications/cancelled') this.#cancel(message);
    const stop = new AbortController();
    const key = isRequest(message) ? JSON.stringify(message.id) : undefined;
    if (key !== undefined) this.#open.set(key, stop);
    const signal = AbortSignal.any([stop.signal, this.#closed.signal]);
    void this.#deliver(message, signal)
      .catch((error: unknown) => this.#fail(message, signal, error))
      .finally(() => key !== undefined && this.#open.delete(key));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#session === undefined) return;
    const headers = { ...(await this.#authorization()), 'mcp-session-id': this.#session };
    const signal = AbortSignal.timeout(2_000);
    await fetch(this.#parts.address, { method: 'DELETE', headers, signal }).catch(() => undefined);
  }

  /** In the new era, a client that stops waiting closes the request; the old one has a message for it. */
  #cancel({ params }: Message): void {
    if (this.#session === undefined) this.#open.get(JSON.stringify(params?.['requestId']))?.abort();
  }

  async #deliver(message: Message, signal: AbortSignal): Promise<void> {
    const idempotencyKey = crypto.randomUUID();
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      const isDone = await this.#send(message, idempotencyKey, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof TypeError)) throw error;
        return false;
      });
      if (isDone) return;
      await delay(pauseMs, undefined, { signal });
    }
  }

  /** False when it has to be sent again. */
  async #send(message: Message, idempotencyKey: string, signal: AbortSignal): Promise<boolean> {
    let response = await this.#post(message, { idempotencyKey, signal });
    if (response.status === 401)
      response = await this.#post(message, { idempotencyKey, signal, isRefused: true });
    if (response.status === 404 && this.#session !== undefined && message.method !== 'initialize') {
      await this.#beginAgain(signal);
      return false;
    }
    if (passing.has(response.status)) return false;
    if (message.method === 'initialize') this.#session = response.headers.get('mcp-session-id') ?? undefined;
    return this.#pass(message, response);
  }

  async #authorization(isRefused = false): Promise<Record<string, string>> {
    const earlier = this.#token;
    this.#token = await this.#parts.tokens.token(isRefused ? earlier : undefined).catch((error: unknown) => {
      // No one can be asked for another token: the service decides whether this one is still valid.
      if (isRefused || earlier === undefined) throw error;
      return earlier;
    });
    return { authorization: `Bearer ${this.#token}` };
  }

  async #post(
    message: Message,
    {
      signal,
      idempotencyKey,
      isRefused,
    }: { signal: AbortSignal; idempotencyKey: string; isRefused?: boolean },
  ): Promise<Response> {
    const session = { ...(this.#session && { 'mcp-session-id': this.#session }) };
    const old = { ...session, ...(this.#version && { 'mcp-protocol-version': this.#version }) };
    const headers = {
      ...(await this.#authorization(isRefused)),
      [clientHeader]: thisClient,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'idempotency-key': idempotencyKey,
      ...(eraOf(message) === 'modern' ? headersOf(message) : message.method === 'initialize' ? {} : old),
    };
    return fetch(this.#parts.address, { method: 'POST', headers, body: JSON.stringify(message), signal });
  }

  async #beginAgain(signal: AbortSignal): Promise<void> {
    if (!this.#initialize) return;
    const response = await this.#post(this.#initialize, { idempotencyKey: crypto.randomUUID(), signal });
    await response.body?.cancel();
    this.#session = response.headers.get('mcp-session-id') ?? this.#session;
  }

  /** Forwards the service's response to the client. False when the stream broke off before it. */
  async #pass(message: Message, response: Response): Promise<boolean> {
    if (response.headers.get('content-type')?.startsWith('text/event-stream') && response.body) {
      const events = response.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const { data } of events) {
        const received = readMessage(data);
        if (received && this.#forward(message, received)) return true;
      }
      return !isRequest(message);
    }
    const text = await response.text();
    const received = text === '' ? null : readMessage(text);
    // The service refused the request before it read its id.
    if (received?.jsonrpc === '2.0' && received.id === null && isRequest(message))
      return this.#forward(message, { ...received, id: message.id });
    if (received?.jsonrpc === '2.0') return this.#forward(message, received) || !isRequest(message);
    if (!response.ok && isRequest(message))
      throw new Error(detailOf(text) ?? `The service answered ${response.status}.`);
    return true;
  }

  /** True for the response to `to`. */
  #forward(to: Message, received: Message): boolean {
    if (isRequest(received)) {
      const key = JSON.stringify(received.id);
      if (this.#asked.has(key)) return false;
      this.#asked.add(key);
    }
    const isResponse = received.method === undefined && isRequest(to) && received.id === to.id;
    if (isResponse && to.method === 'initialize') this.#version = versionIn(received);
    this.#write(received);
    return isResponse;
  }

  #fail(message: Message, signal: AbortSignal, error: unknown): void {
    if (signal.aborted || !isRequest(message)) return;
    const words = error instanceof Error ? error.message : String(error);
    this.#write({ jsonrpc: '2.0', id: message.id, error: { code: internalError, message: words } });
  }

  #write(message: object): void {
    this.#parts.output.write(`${JSON.stringify(message)}\n`);
  }
}

const notJson = { code: -32700, message: 'This line is no JSON-RPC message.' };

function versionIn({ result }: Message): string | undefined {
  const version = (result as { protocolVersion?: unknown } | undefined)?.protocolVersion;
  return typeof version === 'string' ? version : undefined;
}

/** The detail of a problem document. */
function detailOf(text: string): string | undefined {
  const detail = readMessage(text)?.['detail'];
  return typeof detail === 'string' ? detail : undefined;
}

// What the bridge needs to know of an MCP message to carry it over HTTP.

interface Message {
  jsonrpc?: unknown;
  id?: unknown;
  method?: unknown;
  params?: Record<string, unknown>;
  result?: unknown;
  [member: string]: unknown;
}

const versionKey = 'io.modelcontextprotocol/protocolVersion';
/** The parameter that the header `Mcp-Name` repeats. */
const names = ['name', 'uri', 'taskId'];

/** Null for anything but a JSON object. */
function readMessage(text: string): Message | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Message) : null;
  } catch {
    return null;
  }
}

function isRequest({ id, method }: Message): boolean {
  return method !== undefined && id !== undefined && id !== null;
}

/** Requests since 2026-07-28 contain their version; others belong to a session. */
function eraOf(message: Message): 'modern' | 'legacy' {
  return versionOf(message) === undefined ? 'legacy' : 'modern';
}

/** Headers that repeat the body (2026-07-28, "Standard Request Headers"). */
function headersOf(message: Message): Record<string, string> {
  const { method, params = {} } = message;
  const name = names.map((key) => params[key]).find((value) => typeof value === 'string');
  return {
    'mcp-protocol-version': versionOf(message) ?? '',
    'mcp-method': String(method),
    ...(name !== undefined && { 'mcp-name': headerValue(name) }),
  };
}

function versionOf({ params }: Message): string | undefined {
  const meta = params?.['_meta'] as Record<string, unknown> | undefined;
  const version = meta?.[versionKey];
  return typeof version === 'string' ? version : undefined;
}

function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?');
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
