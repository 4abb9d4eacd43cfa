/**
 * What a server says in the middle of a call, beside its answer: progress and lines of its log, questions of the old era,
 * and what it must not say, which ends the call. The questions are answered here; the client's SDK sees the rest as well.
 */
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Capabilities } from '../../elicitation/capabilities.ts';
import type { ServerQuestion } from '../../remote/input-required.ts';
import { readServerMessage, toResponse } from '../../remote/mcp/legacy/messages.ts';
import type { ServerMessage } from '../../remote/mcp/legacy/messages.ts';
import type { CallEnd, CallEvent, LogLine, Progress } from './call-events.ts';
import { clauses } from './fault.ts';
import { toLogLine, toProgress } from './notifications.ts';
import { clauseOfPushed, fault, sentence } from './read-answer.ts';
import type { Era } from './read-answer.ts';
import type { Rounds } from './rounds.ts';
import type { SilenceClock } from './silence-clock.ts';
import type { TimeLimit } from './time-limit.ts';

interface Parts {
  era: Era;
  capabilities: Capabilities;
  transport: Transport;
  rounds: Rounds;
  emit(event: CallEvent): void;
}

/** The request that the server works on meanwhile. */
export interface RequestAtWork {
  end(end: CallEnd): void;
  /** With what is not the server's doing. */
  fail(error: unknown): void;
  /** They stand still while a question is open. */
  silence: SilenceClock;
  limit: TimeLimit;
}

export interface ServerMessages {
  progress: Progress[];
  logs: LogLine[];
  /** True: it is handled, and no matter of the client's. */
  hear(message: JSONRPCMessage, request: RequestAtWork): boolean;
  /** The call is over: whoever is asked need not answer any more. */
  stop(): void;
}

export function createServerMessages(parts: Parts): ServerMessages {
  const { era, capabilities, transport, rounds, emit } = parts;
  const progress: Progress[] = [];
  const logs: LogLine[] = [];
  /** Requests of the server's that are being answered, by their id as JSON. */
  const open = new Map<string, AbortController>();
  const over = new AbortController();

  function hear(message: JSONRPCMessage, request: RequestAtWork): boolean {
    if (!('method' in message)) return false;
    const params: Record<string, unknown> = { ...message.params };
    if (message.method === 'notifications/progress') {
      const step = toProgress(params);
      progress.push(step);
      emit({ type: 'progress', ...step });
      return false;
    }
    if (message.method === 'notifications/message') {
      const line = toLogLine(params);
      logs.push(line);
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
    return read ? hearAboutQuestion(read, params, request) : false;
  }

  function hearAboutQuestion(
    read: ServerMessage,
    params: Record<string, unknown>,
    request: RequestAtWork,
  ): boolean {
    switch (read.kind) {
      case 'question':
        if (read.question.request.mode === 'url' && read.question.pageId === undefined)
          request.end(fault('Its url question has no elicitationId.', clauses.elicitationId));
        else
          answer(read.question, request).then(
            (unanswered) => unanswered && request.end(unanswered),
            (error: unknown) => request.fail(error),
          );
        return true;
      case 'unaskable':
        request.end(fault(sentence(read.reason), clauseOfPushed(read.reason, params, capabilities)));
        return true;
      case 'withdrawn':
        if (open.has(read.key)) emit({ type: 'withdrawn', key: read.key });
        open.get(read.key)?.abort();
        return false;
      case 'page-done':
        emit({ type: 'page-done', pageId: read.pageId });
        return false;
      default:
        return read satisfies never;
    }
  }

  async function answer(asked: ServerQuestion, request: RequestAtWork): Promise<CallEnd | undefined> {
    using _silence = request.silence.pause();
    using _limit = request.limit.pause();
    const withdrawn = new AbortController();
    const signal = AbortSignal.any([withdrawn.signal, over.signal]);
    open.set(asked.key, withdrawn);
    try {
      const collected = await rounds.ask([asked], undefined, signal);
      if (signal.aborted) return undefined;
      if (collected.kind === 'unanswered') return collected;
      const [given] = collected.answers;
      if (given) await transport.send(toResponse(given));
      return undefined;
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    } finally {
      open.delete(asked.key);
    }
  }

  return { progress, logs, hear, stop: () => over.abort() };
}
