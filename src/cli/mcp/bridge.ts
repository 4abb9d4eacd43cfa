/**
 * An MCP server on stdio that is the service's one over HTTP: messages pass as they are, in both eras of the protocol. It
 * sends a request again after a lost connection, under one idempotency key, so that a restart of the service is a pause.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import type { TokenSource } from '../login/find-token.ts';
import { eraOf, headersOf, isRequest, readMessage } from './messages.ts';
import type { Message } from './messages.ts';

interface Parts {
  /** Of the service's MCP server. */
  address: string;
  tokens: Pick<TokenSource, 'token'>;
  input: Readable;
  output: Writable;
}

const firstPauseMs = 500;
const longestPauseMs = 15_000;
/** Of the service or of what stands before it: the same request may do well later. */
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
  /** Requests of the client that have no response yet. */
  readonly #open = new Map<string, AbortController>();
  /** Requests of the service that the client has been given: a stream that is told again has them once more. */
  readonly #asked = new Set<string>();
  readonly #closed = new AbortController();
  /** Of the older era: how its session began, to begin another one where this one is gone. */
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

  /** In the newer era, whoever does not wait any more closes the request; the older one has a message for it. */
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

  /** False when it is to be sent again. */
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
      // Nobody is there to ask for another one: the service says whether this one is still good.
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

  /** Hands the client what the service answered; false when the stream broke off before the response. */
  async #pass(message: Message, response: Response): Promise<boolean> {
    if (response.headers.get('content-type')?.startsWith('text/event-stream') && response.body) {
      const events = response.body
        .pipeThrough(new TextDecoderStream())
        .pipeThrough(new EventSourceParserStream());
      for await (const { data } of events) {
        const told = readMessage(data);
        if (told && this.#forward(message, told)) return true;
      }
      return !isRequest(message);
    }
    const text = await response.text();
    const told = text === '' ? null : readMessage(text);
    // Refused before it was read, so that the service does not know its id.
    if (told?.jsonrpc === '2.0' && told.id === null && isRequest(message))
      return this.#forward(message, { ...told, id: message.id });
    if (told?.jsonrpc === '2.0') return this.#forward(message, told) || !isRequest(message);
    if (!response.ok && isRequest(message))
      throw new Error(detailOf(text) ?? `The service answered ${response.status}.`);
    return true;
  }

  /** True for the response to `to`. */
  #forward(to: Message, told: Message): boolean {
    if (isRequest(told)) {
      const key = JSON.stringify(told.id);
      if (this.#asked.has(key)) return false;
      this.#asked.add(key);
    }
    const isResponse = told.method === undefined && isRequest(to) && told.id === to.id;
    if (isResponse && to.method === 'initialize') this.#version = versionIn(told);
    this.#write(told);
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

/** Of a problem document. */
function detailOf(text: string): string | undefined {
  const detail = readMessage(text)?.['detail'];
  return typeof detail === 'string' ? detail : undefined;
}
