/**
 * What a server sends during a call besides its answer: progress, log lines, questions of the old era, and requests that it must not
 * send, which end the call. Questions are answered here; the client's SDK sees the rest.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ServerQuestion, InputRequired } from '@interlude-ai/core/mcp/input-required.ts';
import { readServerMessage, toResponse } from '@interlude-ai/core/mcp/legacy-messages.ts';
import type { ServerMessage } from '@interlude-ai/core/mcp/legacy-messages.ts';
import type { CallEnd, CallEvent, LogLine, Progress, AnsweredRound } from './call-events.ts';
import { clauses } from './fault.ts';
import type { PausableTimer } from './pausable-timer.ts';
import { clauseOfPushed, fault, sentence } from './read-answer.ts';
import type { Era } from './read-answer.ts';
import { collectAnswers } from '../answers/answer-from.ts';
import type { Collected } from '../answers/answer-from.ts';
import { toQuestion } from '../answers/source.ts';
import type { AnswerSource, Question } from '../answers/source.ts';
import type { ToolToCall } from './any-client.ts';

interface Parts {
  era: Era;
  capabilities: Capabilities;
  transport: Transport;
  rounds: Rounds;
  emit(event: CallEvent): void;
}

interface RequestAtWork {
  end(end: CallEnd): void;
  /** For errors that are not the server's. */
  fail(error: unknown): void;
  /** Both pause while a question is open. */
  silence: PausableTimer;
  limit: PausableTimer;
}

export class ServerMessages {
  readonly progress: Progress[] = [];
  readonly logs: LogLine[] = [];
  readonly #parts: Parts;
  /** Requests of the server that are being answered, by their id as JSON. */
  readonly #open = new Map<string, AbortController>();
  readonly #over = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** True: handled here; the client does not see it. */
  read(message: JSONRPCMessage, request: RequestAtWork): boolean {
    const { era, capabilities, emit } = this.#parts;
    if (!('method' in message)) return false;
    const params: Record<string, unknown> = { ...message.params };
    if (message.method === 'notifications/progress') {
      const step = toProgress(params);
      this.progress.push(step);
      emit({ type: 'progress', ...step });
      return false;
    }
    if (message.method === 'notifications/message') {
      const line = toLogLine(params);
      this.logs.push(line);
      emit({ type: 'log', ...line });
      return false;
    }
    const read = readServerMessage(message, capabilities);
    const isRequest = 'id' in message;
    if (isRequest && message.method !== 'ping' && (era === 'modern' || !read)) {
      const rule = era === 'modern' ? clauses.noServerRequests : clauses.undeclared;
      request.end(fault(`It sent the request "${message.method}" in the middle of the call.`, rule));
      return true;
    }
    return read ? this.#readAboutQuestion(read, params, request) : false;
  }

  #readAboutQuestion(read: ServerMessage, params: Record<string, unknown>, request: RequestAtWork): boolean {
    const { capabilities, emit } = this.#parts;
    switch (read.kind) {
      case 'question':
        if (read.question.request.mode === 'url' && read.question.pageId === undefined)
          request.end(fault('Its url question has no elicitationId.', clauses.elicitationId));
        else
          this.#answer(read.question, request).then(
            (unanswered) => unanswered && request.end(unanswered),
            (error: unknown) => request.fail(error),
          );
        return true;
      case 'unaskable':
        request.end(fault(sentence(read.reason), clauseOfPushed(read.reason, params, capabilities)));
        return true;
      case 'withdrawn':
        if (this.#open.has(read.key)) emit({ type: 'withdrawn', key: read.key });
        this.#open.get(read.key)?.abort();
        return false;
      case 'page-done':
        emit({ type: 'page-done', pageId: read.pageId });
        return false;
      default:
        return read satisfies never;
    }
  }

  async #answer(asked: ServerQuestion, request: RequestAtWork): Promise<CallEnd | undefined> {
    using _silence = request.silence.pause();
    using _limit = request.limit.pause();
    const withdrawn = new AbortController();
    const signal = AbortSignal.any([withdrawn.signal, this.#over.signal]);
    this.#open.set(asked.key, withdrawn);
    try {
      const collected = await this.#parts.rounds.ask([asked], undefined, signal);
      if (signal.aborted) return undefined;
      if (collected.kind === 'unanswered') return collected;
      const [given] = collected.answers;
      if (given) await this.#parts.transport.send(toResponse(given));
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      this.#open.delete(asked.key);
    }
  }

  /** The call is over: open questions need no answer. */
  stop(): void {
    this.#over.abort();
  }
}

function toProgress(params: Record<string, unknown>): Progress {
  const { progress, total, message } = params;
  return {
    progress: typeof progress === 'number' ? progress : 0,
    ...(typeof total === 'number' && { total }),
    ...(typeof message === 'string' && { message }),
  };
}

function toLogLine({ level, logger, data }: Record<string, unknown>): LogLine {
  return {
    level: typeof level === 'string' ? level : 'info',
    ...(typeof logger === 'string' && { logger }),
    data,
  };
}

// The rounds of one call: the sources answer each, and answered ones are kept.

/** Delays a server that only wants to be called again. */
const emptyRoundMs = 250;

interface RoundsParts {
  tool: ToolToCall;
  server: string | undefined;
  sources: readonly AnswerSource[];
  most: number;
  emit(event: CallEvent): void;
}

export class Rounds {
  readonly answered: AnsweredRound[] = [];
  readonly #parts: RoundsParts;
  #count = 0;

  constructor(parts: RoundsParts) {
    this.#parts = parts;
  }

  /** `pause`: in the new era, where a round is a result. */
  async ask(
    asked: readonly ServerQuestion[],
    pause: InputRequired | undefined,
    signal: AbortSignal,
  ): Promise<Collected> {
    const { tool, server, sources, most, emit } = this.#parts;
    const round = ++this.#count;
    const questions = asked.map(toQuestion);
    if (round > most) return tooMany(tool.name, most, questions);
    if (questions.length === 0) await new Promise((resolve) => setTimeout(resolve, emptyRoundMs));
    else emit({ type: 'asked', round, questions });
    const requestState = pause?.resume.kind === 'retry' ? pause.resume.requestState : undefined;
    const given = {
      tool: tool.name,
      arguments: tool.arguments ?? {},
      round,
      questions,
      ...(requestState !== undefined && { requestState }),
      ...(server !== undefined && { server }),
    };
    const collected = await collectAnswers(sources, given, { signal });
    if (collected.kind === 'answers' && questions.length > 0) {
      const one = { round, questions, answers: collected.answers };
      this.answered.push(one);
      emit({ type: 'answered', ...one });
    }
    return collected;
  }
}

function tooMany(tool: string, most: number, questions: Question[]): Collected {
  const reason = `${tool} asks more than ${most} times. A server that is meant to needs a higher limit of rounds.`;
  return { kind: 'unanswered', reason, questions };
}
