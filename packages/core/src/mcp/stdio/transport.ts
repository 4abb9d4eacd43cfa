/**
 * MCP over standard input and output: one JSON-RPC message per line. Replaces the SDK's transport, which does not end the
 * children of a server, and does not report why a process cannot be started.
 */
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { responseLimitBytes, ResponseTooLarge } from '../response-body.ts';
import type { ProcessExit, RunningProcess, ServerProcess } from './process.ts';
import { startProcess } from './process.ts';
import type { Exchange, ExchangeLog } from '../tracked-request.ts';
import { readableMessage } from '../readable-messages.ts';

interface Listener {
  onProcessExit?: ((exit: ProcessExit) => void) | undefined;
  onErrorOutput?: ((chunk: Buffer) => void) | undefined;
  /** A line of its standard output that is not a message. */
  onStrayLine?: ((line: string) => void) | undefined;
  /** Called when a message was written. */
  onSending?: ((exchange: Exchange) => void) | undefined;
}

export class StdioTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  readonly sessionId = undefined;
  readonly protocolVersion = undefined;
  /** Members that make the SDK take this for a process: its silence then means an old server, not an outage. */
  readonly stderr = null;
  readonly pid = null;
  readonly #server: ServerProcess;
  readonly #onProcessExit: (report: ProcessExit) => void;
  readonly #onErrorOutput: ((chunk: Buffer) => void) | undefined;
  readonly #onStrayLine: (line: string) => void;
  readonly #onSending: (exchange: Exchange) => void;
  readonly #exchanges: Exchange[] = [];
  #starting: Promise<RunningProcess> | undefined;
  #hasAnswered = false;
  #unread = '';
  #size = 0;
  #isClosed = false;

  constructor(
    server: ServerProcess,
    { onProcessExit, onErrorOutput, onStrayLine, onSending }: Listener = {},
  ) {
    this.#server = server;
    this.#onProcessExit = onProcessExit ?? (() => undefined);
    this.#onErrorOutput = onErrorOutput;
    this.#onStrayLine = onStrayLine ?? (() => undefined);
    this.#onSending = onSending ?? (() => undefined);
  }

  /** `isSent` is set for every message: a pipe does not show whether it was read. */
  get exchanges(): ExchangeLog {
    const exchanges = this.#exchanges;
    return {
      last: (method) => exchanges.findLast((one) => method === undefined || one.method === method),
      listening: () => Promise.resolve(),
      settled: () => Promise.resolve(),
    };
  }

  async start(): Promise<void> {
    const decoder = new TextDecoder();
    this.#starting = startProcess(this.#server, {
      ...(this.#onErrorOutput && { onErrorOutput: this.#onErrorOutput }),
      onOutput: (chunk) => this.#read(decoder.decode(chunk, { stream: true }), chunk.byteLength),
      onEnd: (failure, { wasStopped, ...exit }) => {
        this.#fail(failure);
        this.#onProcessExit({ ...exit, isFailure: !wasStopped || !this.#hasAnswered });
        this.#end();
      },
    });
    try {
      await this.#starting;
    } catch (error) {
      this.#begin({ method: 'start', id: undefined });
      this.#fail(error);
      throw error;
    }
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const exchange = this.#begin({
      method: 'method' in message ? message.method : 'response',
      id: 'id' in message ? message.id : undefined,
    });
    const process = await this.#starting;
    if (!process || this.#isClosed) throw new Error('The process is not there.');
    exchange.isSent = true;
    await process.write(`${JSON.stringify(message)}\n`);
    this.#onSending(exchange);
  }

  async close(): Promise<void> {
    const process = await this.#starting?.catch(() => undefined);
    this.#end();
    await process?.stop();
  }

  /** Ending the process ends the session. */
  terminateSession(): Promise<void> {
    return Promise.resolve();
  }

  #begin({ method, id }: Pick<Exchange, 'method' | 'id'>): Exchange {
    const exchange: Exchange = { method, id, isSent: false, isStream: true, challenge: null };
    this.#exchanges.push(exchange);
    return exchange;
  }

  #fail(failure: unknown): void {
    for (const exchange of this.#exchanges) exchange.failure ??= failure;
  }

  #read(text: string, bytes: number): void {
    if (this.#isClosed) return;
    this.#size += bytes;
    if (this.#size > responseLimitBytes) {
      this.#fail(new ResponseTooLarge());
      void this.close();
      return;
    }
    const lines = text.includes('\n') ? (this.#unread + text).split('\n') : [this.#unread + text];
    this.#unread = lines.pop() ?? '';
    for (const line of lines) {
      const message = readMessage(line);
      if (message) this.#hasAnswered = true;
      else if (line.trim() !== '') this.#onStrayLine(line);
      if (message && !this.#isClosed) this.onmessage?.(message);
    }
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#unread = '';
    this.onclose?.();
  }
}

/** Programs also write other text to standard output. */
function readMessage(line: string): JSONRPCMessage | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return parseJSONRPCMessage(readableMessage(JSON.parse(line)));
  } catch {
    return undefined;
  }
}
