/**
 * MCP over the standard input and output of a process of ours: one JSON-RPC message a line. In place of the SDK's own,
 * which leaves the processes behind that a server has started, and does not say why one cannot be.
 */
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ServerProcess } from '../../../config/agents-file/server-config.ts';
import { answerLimitBytes, AnswerTooLarge } from '../../response-body.ts';
import { startProcess } from './process.ts';
import type { ProcessReport, RunningProcess } from './process.ts';
import type { Exchange, Wire } from '../tracked-fetch.ts';

interface Heard {
  onReport?: ((report: ProcessReport) => void) | undefined;
  /** Called when a message was handed over. */
  onLeft?: ((exchange: Exchange) => void) | undefined;
}

export class StdioTransport implements Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  readonly sessionId = undefined;
  readonly protocolVersion = undefined;
  /** By this and `pid` the SDK sees that silence here is no outage, but an old server. */
  readonly stderr = null;
  readonly pid = null;
  readonly #server: ServerProcess;
  readonly #onReport: (report: ProcessReport) => void;
  readonly #onLeft: (exchange: Exchange) => void;
  readonly #exchanges: Exchange[] = [];
  #starting: Promise<RunningProcess> | undefined;
  #hasSpoken = false;
  #unread = '';
  #size = 0;
  #isClosed = false;

  constructor(server: ServerProcess, { onReport, onLeft }: Heard = {}) {
    this.#server = server;
    this.#onReport = onReport ?? (() => undefined);
    this.#onLeft = onLeft ?? (() => undefined);
  }

  /** What is known of the messages so far. Whether one was read is for nobody to say: a pipe takes it in any case. */
  get wire(): Wire {
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
      onOutput: (chunk) => this.#read(decoder.decode(chunk, { stream: true }), chunk.byteLength),
      onEnd: (trouble, { wasTold, ...report }) => {
        this.#fail(trouble);
        this.#onReport({ ...report, isFailure: !wasTold || !this.#hasSpoken });
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
    exchange.left = true;
    await process.write(`${JSON.stringify(message)}\n`);
    this.#onLeft(exchange);
  }

  async close(): Promise<void> {
    const process = await this.#starting?.catch(() => undefined);
    this.#end();
    await process?.stop();
  }

  /** Nothing to be said: what ends the process, ends the session. */
  terminateSession(): Promise<void> {
    return Promise.resolve();
  }

  #begin({ method, id }: Pick<Exchange, 'method' | 'id'>): Exchange {
    const exchange: Exchange = { method, id, left: false, isStream: true, challenge: null };
    this.#exchanges.push(exchange);
    return exchange;
  }

  #fail(failure: unknown): void {
    for (const exchange of this.#exchanges) exchange.failure ??= failure;
  }

  #read(text: string, bytes: number): void {
    if (this.#isClosed) return;
    this.#size += bytes;
    if (this.#size > answerLimitBytes) {
      this.#fail(new AnswerTooLarge());
      void this.close();
      return;
    }
    const lines = text.includes('\n') ? (this.#unread + text).split('\n') : [this.#unread + text];
    this.#unread = lines.pop() ?? '';
    for (const line of lines) {
      const message = readMessage(line);
      if (message) this.#hasSpoken = true;
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

/** Programs say all sorts of things on their standard output. */
function readMessage(line: string): JSONRPCMessage | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return parseJSONRPCMessage(JSON.parse(line));
  } catch {
    return undefined;
  }
}
