/**
 * Calls a tool with a connected client of either SDK generation, and answers what the server asks meanwhile, in whichever
 * era it asks. The questions are read from the transport: the client needs no handler of its own.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { InputRequired } from '../../remote/input-required.ts';
import type { Collected } from '../answers/collect-answers.ts';
import type { AnswerSource } from '../answers/source.ts';
import type { CallEnd, CallEvent, ToolCallReport } from './call-events.ts';
import { checkOutput } from './check-output.ts';
import { clauses } from './fault.ts';
import { canShowAll, fault, readServerAnswer } from './read-answer.ts';
import type { Era } from './read-answer.ts';
import { sendCall } from './any-client.ts';
import type { AnyClient, ToolToCall } from './any-client.ts';
import { buildRetry } from './retry.ts';
import { createRounds } from './rounds.ts';
import type { Rounds } from './rounds.ts';
import { createServerMessages } from './server-messages.ts';
import type { ServerMessages } from './server-messages.ts';
import { createSilenceClock } from './silence-clock.ts';
import { createTimeLimit } from './time-limit.ts';
import type { TimeLimit } from './time-limit.ts';
import { tapTransport } from './transport-tap.ts';

export interface CallToolOptions {
  /** Tried in this order; none answers nothing. */
  answers?: AnswerSource | readonly AnswerSource[];
  /** How often the server may ask (5). */
  maxRounds?: number;
  /** How long the server may say nothing, questions not counted (60,000). */
  timeoutMs?: number;
  /** How long the call may take in all, whatever the server says meanwhile, questions not counted (600,000). */
  maxTimeMs?: number;
  /** What the client has declared; both kinds of questions unless given. */
  capabilities?: Capabilities;
  signal?: AbortSignal;
  onEvent?: (event: CallEvent) => void;
}

/** Rejects only for mistakes of the caller's: how the call ended stands in the report. */
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
    this.#rounds = createRounds({
      tool,
      server: client.getServerVersion()?.name,
      sources: [options.answers ?? []].flat(),
      most: options.maxRounds ?? 5,
      emit,
    });
    this.#messages = createServerMessages({
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
    const limit = createTimeLimit(this.#maxTimeMs, () =>
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

  async #callUntilDone(limit: TimeLimit): Promise<CallEnd> {
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
      // Refused until pages are done, and they are not: the refusal is how it ends.
      const isRefused = collected.answers.some(({ action }) => action !== 'accept');
      if (isRefused && 'error' in answered.message) return { kind: 'error', ...answered.message.error };
      params = buildRetry(params, answer.pause, collected.answers);
    }
  }

  async #ask(pause: InputRequired, limit: TimeLimit): Promise<Collected> {
    using _pause = limit.pause();
    return await this.#rounds.ask(pause.questions, pause, this.#over.signal);
  }

  async #checked(end: Extract<CallEnd, { kind: 'result' }>): Promise<CallEnd> {
    const broken = await checkOutput(end.result, this.#tool.outputSchema);
    return broken ? { kind: 'fault', fault: broken } : end;
  }

  /** One request, and what came back for it. */
  async #send(
    params: Record<string, unknown>,
    limit: TimeLimit,
  ): Promise<{ message: JSONRPCMessage } | CallEnd> {
    const answered = Promise.withResolvers<{ message: JSONRPCMessage } | CallEnd>();
    const over = new AbortController();
    const clock = createSilenceClock(this.#timeoutMs, () =>
      answered.resolve({ kind: 'timeout', of: 'silence', afterMs: this.#timeoutMs }),
    );
    let id: string | number | undefined;
    using _tap = tapTransport(this.#transport, {
      onSent(message) {
        if ('method' in message && message.method === 'tools/call' && 'id' in message) id ??= message.id;
      },
      onReceived: (message) => {
        clock.reset();
        if (isResponse(message)) {
          if (message.id === id) answered.resolve({ message });
          return false;
        }
        return this.#messages.hear(message, {
          end: (end) => answered.resolve(end),
          fail: (error) => this.#ended.reject(error as Error),
          silence: clock,
          limit,
        });
      },
      onStreamEnd(ended) {
        if (ended !== id) return;
        // What has arrived is delivered first.
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

/** Before there was an answer: the connection, or what the SDK thought of the answer. */
function failedToSend(error: unknown): CallEnd {
  const words = error instanceof Error ? error.message : String(error);
  return fault(`It gave no answer to the call (${words.replace(/\.$/, '')}).`, clauses.answered);
}
