/**
 * What a server sends during a call besides its answer: progress, log lines, questions of the old era, and requests that it must not
 * send, which end the call. Questions are answered here; the client's SDK sees the rest.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Capabilities } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ServerQuestion } from '@interlude-ai/core/mcp/input-required.ts';
import { readServerMessage, toResponse } from '@interlude-ai/core/mcp/legacy-messages.ts';
import type { ServerMessage } from '@interlude-ai/core/mcp/legacy-messages.ts';
import type { CallEnd, CallEvent, LogLine, Progress } from './call-events.ts';
import { clauses } from './fault.ts';
import type { PausableTimer } from './pausable-timer.ts';
import { clauseOfPushed, fault, sentence } from './read-answer.ts';
import type { Era } from './read-answer.ts';
import type { Rounds } from './rounds.ts';

interface Parts {
  era: Era;
  capabilities: Capabilities;
  transport: Transport;
  rounds: Rounds;
  emit(event: CallEvent): void;
}

/** The open request. */
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
