/**
 * Calls a tool with a connected client of either SDK generation, and answers what the server asks meanwhile, in whichever
 * era it asks. The questions are read from the transport: the client needs no handler of its own.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { InputRequired, QuestionAnswer, ServerQuestion } from '../../remote/input-required.ts';
import { readServerMessage } from '../../remote/mcp/legacy/messages.ts';
import type { Collected } from '../answers/collect-answers.ts';
import type { AnswerSource } from '../answers/source.ts';
import type { CallEnd, CallEvent, LogLine, Progress, ToolCallReport } from './call-events.ts';
import { checkOutput } from './check-output.ts';
import { clauses } from './fault.ts';
import { canShowAll, clauseOfPushed, fault, readServerAnswer, sentence } from './read-answer.ts';
import type { Era } from './read-answer.ts';
import { sendCall } from './any-client.ts';
import type { AnyClient, ToolToCall } from './any-client.ts';
import { toLogLine, toProgress } from './notifications.ts';
import { buildRetry } from './retry.ts';
import { createRounds } from './rounds.ts';
import type { Rounds } from './rounds.ts';
import { createSilenceClock } from './silence-clock.ts';
import type { SilenceClock } from './silence-clock.ts';
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

/** Both stand still while a question is open. */
type Clocks = readonly [SilenceClock, TimeLimit];

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
  readonly #emit: (event: CallEvent) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #rounds: Rounds;
  readonly #progress: Progress[] = [];
  readonly #logs: LogLine[] = [];
  readonly #over = new AbortController();
  readonly #ended = Promise.withResolvers<CallEnd>();
  /** Requests of the server's that are being answered, by their id as JSON. */
  readonly #open = new Map<string, AbortController>();

  constructor(client: AnyClient, transport: Transport, tool: ToolToCall, options: CallToolOptions) {
    this.#client = client;
    this.#transport = transport;
    this.#tool = tool;
    this.#era = client.getProtocolEra?.() ?? 'legacy';
    this.#capabilities = options.capabilities ?? canShowAll;
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#maxTimeMs = options.maxTimeMs ?? 600_000;
    this.#emit = options.onEvent ?? (() => undefined);
    this.#signal = options.signal;
    this.#rounds = createRounds({
      tool,
      server: client.getServerVersion()?.name,
      sources: [options.answers ?? []].flat(),
      most: options.maxRounds ?? 5,
      emit: this.#emit,
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
        progress: this.#progress,
        logs: this.#logs,
        durationMs: Math.round(performance.now() - began),
      };
    } finally {
      limit.stop();
      this.#signal?.removeEventListener('abort', stop);
      for (const question of this.#open.values()) question.abort();
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
      params = buildRetry(params, answer.pause, collected.answers.map(toWire));
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
        return this.#hear(message, [clock, limit], (end) => answered.resolve(end));
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

  /** What the server says beside its answer. True: it is handled, and no matter of the client's. */
  #hear(message: JSONRPCMessage, clocks: Clocks, end: (end: CallEnd) => void): boolean {
    if (!('method' in message)) return false;
    const params: Record<string, unknown> = { ...message.params };
    if (message.method === 'notifications/progress') {
      const progress = toProgress(params);
      this.#progress.push(progress);
      this.#emit({ type: 'progress', ...progress });
      return false;
    }
    if (message.method === 'notifications/message') {
      const line = toLogLine(params);
      this.#logs.push(line);
      this.#emit({ type: 'log', ...line });
      return false;
    }
    const read = readServerMessage(message, this.#capabilities);
    const isRequest = 'id' in message;
    if (isRequest && message.method !== 'ping' && (this.#era === 'modern' || !read)) {
      const rule = this.#era === 'modern' ? clauses.noServerRequests : clauses.undeclared;
      end(fault(`It sent the request "${message.method}" in the middle of the call.`, rule));
      return true;
    }
    switch (read?.kind) {
      case undefined:
        return false;
      case 'question': {
        if (read.question.request.mode === 'url' && read.question.pageId === undefined) {
          end(fault('Its url question has no elicitationId.', clauses.elicitationId));
          return true;
        }
        this.#answerPushed(read.question, clocks).then(
          (unanswered) => unanswered && end(unanswered),
          (error: unknown) => this.#ended.reject(error as Error),
        );
        return true;
      }
      case 'unaskable':
        end(fault(sentence(read.reason), clauseOfPushed(read.reason, params, this.#capabilities)));
        return true;
      case 'withdrawn':
        if (this.#open.has(read.key)) this.#emit({ type: 'withdrawn', key: read.key });
        this.#open.get(read.key)?.abort();
        return false;
      case 'page-done':
        this.#emit({ type: 'page-done', pageId: read.pageId });
        return false;
      default:
        return read satisfies never;
    }
  }

  async #answerPushed(asked: ServerQuestion, clocks: Clocks): Promise<CallEnd | undefined> {
    const [silence, limit] = clocks;
    using _silence = silence.pause();
    using _limit = limit.pause();
    const withdrawn = new AbortController();
    this.#open.set(asked.key, withdrawn);
    try {
      const collected = await this.#rounds.ask([asked], undefined, withdrawn.signal);
      if (withdrawn.signal.aborted || this.#over.signal.aborted) return undefined;
      if (collected.kind === 'unanswered') return collected;
      const [answer] = collected.answers.map(toWire);
      if (!answer) return undefined;
      const { key, ...result } = answer;
      await this.#transport.send({ jsonrpc: '2.0', id: JSON.parse(key) as string | number, result });
      return undefined;
    } catch (error) {
      if (withdrawn.signal.aborted || this.#over.signal.aborted) return undefined;
      throw error;
    } finally {
      this.#open.delete(asked.key);
    }
  }
}

function toWire({ key, action, content }: QuestionAnswer): QuestionAnswer {
  return { key, action, ...(content !== undefined && { content }) };
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
