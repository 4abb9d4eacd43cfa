/**
 * Calls a tool with a connected client of either SDK generation, and answers the server's questions in either era. Questions are
 * read from the transport, so the client needs no handler of its own.
 */
import type { CallToolResult, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { InputRequired } from '@interlude-ai/core/mcp/input-required.ts';
import type { Collected } from '../answers/answer-from.ts';
import type { AnswerSource } from '../answers/source.ts';
import { sendCall } from './any-client.ts';
import type { AnyClient, ToolToCall } from './any-client.ts';
import type { CallEnd, CallEvent, ToolCallReport } from './call-events.ts';
import { clauses } from './fault.ts';
import type { Fault } from './fault.ts';
import { PausableTimer } from './pausable-timer.ts';
import { buildRetry, canShowAll, fault, readServerAnswer } from './read-answer.ts';
import type { Era } from './read-answer.ts';
import { Rounds, ServerMessages } from './server-messages.ts';
import { tapTransport } from './transport-tap.ts';

export interface CallToolOptions {
  /** Asked in this order; without any, nothing is answered. */
  answers?: AnswerSource | readonly AnswerSource[];
  /** How often the server may ask (5). */
  maxRounds?: number;
  /** How long the server may send nothing, without questions (60,000). */
  timeoutMs?: number;
  /** How long the call may take in all, without questions (600,000). */
  maxTimeMs?: number;
  /** What the client has declared; both kinds of questions by default. */
  capabilities?: Capabilities;
  signal?: AbortSignal;
  onEvent?: (event: CallEvent) => void;
}

/** Rejects only for mistakes of the caller. How the call ended is in the report. */
export async function callTool(
  client: AnyClient,
  tool: ToolToCall,
  options: CallToolOptions = {},
): Promise<ToolCallReport> {
  const { transport } = client;
  if (!transport) throw new TypeError('The client is not connected.');
  const call = new Call(client, transport, tool, options);
  return call.run();
}

class Call {
  readonly #client: AnyClient;
  readonly #transport: Transport;
  readonly #tool: ToolToCall;
  readonly #era: Era;
  readonly #capabilities: Capabilities;
  readonly #timeoutMs: number;
  readonly #maxTimeMs: number;
  readonly #signal: AbortSignal | undefined;
  readonly #rounds: Rounds;
  readonly #messages: ServerMessages;
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<CallEnd>();

  constructor(client: AnyClient, transport: Transport, tool: ToolToCall, options: CallToolOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#tool = tool;
    this.#era = client.getProtocolEra?.() ?? 'legacy';
    this.#capabilities = options.capabilities ?? canShowAll;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#maxTimeMs = options.maxTimeMs ?? 600_000;
    const emit = options.onEvent ?? (() => undefined);
    this.#signal = options.signal;
    this.#rounds = new Rounds({
      tool,
      server: client.getServerVersion()?.name,
      sources: [options.answers ?? []].flat(),
      most: options.maxRounds ?? 5,
      emit,
    });
    this.#messages = new ServerMessages({
      era: this.#era,
      capabilities: this.#capabilities,
      transport,
      rounds: this.#rounds,
      emit,
    });
  }

  async run(): Promise<ToolCallReport> {
    const began = performance.now();
    const { name, arguments: input = {} } = this.#tool;
    const stop = () => this.#end({ kind: 'stopped' });
    if (this.#signal?.aborted) stop();
    this.#signal?.addEventListener('abort', stop);
    const limit = new PausableTimer(this.#maxTimeMs, { restarts: false }, () =>
      this.#end({ kind: 'timeout', of: 'call', afterMs: this.#maxTimeMs }),
    );
    this.#callUntilDone(limit).then(
      (end) => this.#end(end),
      (error: unknown) => this.#ended.reject(error as Error),
    );
    try {
      const end = await this.#ended.promise;
      return {
        tool: name,
        arguments: input,
        era: this.#era,
        end,
        rounds: this.#rounds.answered,
        progress: this.#messages.progress,
        logs: this.#messages.logs,
        durationMs: Math.round(performance.now() - began),
      };
    } finally {
      limit.stop();
      this.#signal?.removeEventListener('abort', stop);
      this.#messages.stop();
      this.#over.abort();
    }
  }

  #end(end: CallEnd): void {
    this.#ended.resolve(end);
  }

  async #callUntilDone(limit: PausableTimer): Promise<CallEnd> {
    const { name, arguments: input = {} } = this.#tool;
    let params: Record<string, unknown> = { name, arguments: input };
    for (;;) {
      const answered = await this.#send(params, limit);
      if ('kind' in answered) return answered;
      const answer = readServerAnswer(answered.message, { era: this.#era, capabilities: this.#capabilities });
      if (answer.kind === 'result') return this.#checked(answer);
      if (answer.kind !== 'asks') return answer;
      const collected = await this.#ask(answer.pause, limit);
      if (collected.kind === 'unanswered') return collected;
      // The server refused until pages are done. They are not, so the refusal is the end.
      const isRefused = collected.answers.some(({ action }) => action !== 'accept');
      if (isRefused && 'error' in answered.message) return { kind: 'error', ...answered.message.error };
      params = buildRetry(params, answer.pause, collected.answers);
    }
  }

  async #ask(pause: InputRequired, limit: PausableTimer): Promise<Collected> {
    using _pause = limit.pause();
    return await this.#rounds.ask(pause.questions, pause, this.#over.signal);
  }

  async #checked(end: Extract<CallEnd, { kind: 'result' }>): Promise<CallEnd> {
    const broken = await checkOutput(end.result, this.#tool.outputSchema);
    return broken ? { kind: 'fault', fault: broken } : end;
  }

  /** One request and its response. */
  async #send(
    params: Record<string, unknown>,
    limit: PausableTimer,
  ): Promise<{ message: JSONRPCMessage } | CallEnd> {
    const answered = Promise.withResolvers<{ message: JSONRPCMessage } | CallEnd>();
    const over = new AbortController();
    const clock = new PausableTimer(this.#timeoutMs, { restarts: true }, () =>
      answered.resolve({ kind: 'timeout', of: 'silence', afterMs: this.#timeoutMs }),
    );
    let id: string | number | undefined;
    using _tap = tapTransport(this.#transport, {
      onSent(message) {
        if ('method' in message && message.method === 'tools/call' && 'id' in message) id ??= message.id;
      },
      onReceived: (message) => {
        clock.restart();
        if (isResponse(message)) {
          if (message.id === id) answered.resolve({ message });
          return false;
        }
        return this.#messages.read(message, {
          end: (end) => answered.resolve(end),
          fail: (error) => this.#ended.reject(error as Error),
          silence: clock,
          limit,
        });
      },
      onStreamEnd(ended) {
        if (ended !== id) return;
        // Received messages are delivered first.
        setImmediate(() =>
          answered.resolve(fault('The stream of its answer ended before the answer.', clauses.answered)),
        );
      },
    });
    const sent = sendCall(
      this.#client,
      this.#tool,
      params,
      AbortSignal.any([over.signal, this.#over.signal]),
    ).catch((error: unknown) => answered.resolve(failedToSend(error)));
    try {
      return await answered.promise;
    } finally {
      clock.stop();
      over.abort();
      await Promise.race([sent, new Promise((resolve) => setImmediate(resolve))]);
    }
  }
}

function isResponse(
  message: JSONRPCMessage,
): message is Extract<JSONRPCMessage, { result: unknown } | { error: unknown }> {
  return 'result' in message || 'error' in message;
}

/** The connection failed, or the SDK refused the response. */
function failedToSend(error: unknown): CallEnd {
  const words = error instanceof Error ? error.message : String(error);
  return fault(`It gave no answer to the call (${words.replace(/\.$/, '')}).`, clauses.answered);
}

/** Null if it fits, if there is no schema, or if the tool failed. The validator is loaded on demand. */
async function checkOutput(
  { isError, structuredContent }: CallToolResult,
  outputSchema: Record<string, unknown> | undefined,
): Promise<Fault | null> {
  if (!outputSchema || isError === true) return null;
  const breaks = (message: string): Fault => ({ message, clause: clauses.outputSchema });
  if (structuredContent === undefined)
    return breaks('Its result has no structuredContent, and the tool has an outputSchema.');
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  try {
    const validate = new AjvJsonSchemaValidator().getValidator(outputSchema);
    const { valid, errorMessage } = validate(structuredContent);
    return valid
      ? null
      : breaks(`Its structuredContent does not fit the outputSchema of the tool: ${errorMessage}.`);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return breaks(`The outputSchema of the tool cannot be used: ${why.replace(/\.$/, '')}.`);
  }
}
