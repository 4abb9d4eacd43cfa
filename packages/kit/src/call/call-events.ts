/** What is seen of a call while it goes on, and its report. Plain data. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { GivenAnswer } from '../answers/answer-from.ts';
import type { Question } from '../answers/source.ts';
import type { Fault } from './fault.ts';
import type { Era } from './read-answer.ts';

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

export interface LogLine {
  level: string;
  logger?: string;
  data: unknown;
}

export interface AnsweredRound {
  round: number;
  questions: readonly Question[];
  answers: readonly GivenAnswer[];
}

export type CallEvent =
  | ({ type: 'progress' } & Progress)
  | ({ type: 'log' } & LogLine)
  | { type: 'asked'; round: number; questions: readonly Question[] }
  | ({ type: 'answered' } & AnsweredRound)
  /** Old era: the server says that a page is done. */
  | { type: 'page-done'; pageId: string }
  /** Old era: the server no longer waits for this question. */
  | { type: 'withdrawn'; key: string };

export type CallEnd =
  /** `isError`: the tool reports that it failed. */
  | { kind: 'result'; result: CallToolResult }
  /** The server answered with a JSON-RPC error. */
  | { kind: 'error'; code: number; message: string; data?: unknown }
  /** A question had no answer, or an unfit one: nothing was sent after it. */
  | { kind: 'unanswered'; reason: string; questions: readonly Question[] }
  /** The server broke the specification. */
  | { kind: 'fault'; fault: Fault }
  /** The server sent nothing for too long, or the call took too long. */
  | { kind: 'timeout'; of: 'silence' | 'call'; afterMs: number }
  /** The caller's signal. */
  | { kind: 'stopped' };

export interface ToolCallReport {
  tool: string;
  arguments: Record<string, unknown>;
  era: Era;
  end: CallEnd;
  rounds: AnsweredRound[];
  progress: Progress[];
  logs: LogLine[];
  durationMs: number;
}

/** The end of a call as one text, which matchers compare and quote. */
export function textOfEnd(end: CallEnd): string {
  switch (end.kind) {
    case 'result': {
      const texts = end.result.content.map((block) =>
        block.type === 'text' ? block.text : `[${block.type}]`,
      );
      const { structuredContent } = end.result;
      return [...texts, ...(structuredContent ? [JSON.stringify(structuredContent)] : [])].join('\n');
    }
    case 'error':
      return end.message;
    case 'unanswered':
      return end.reason;
    case 'fault':
      return end.fault.message;
    case 'timeout':
      return end.of === 'silence'
        ? `nothing for ${end.afterMs / 1000} seconds`
        : `no result within ${end.afterMs / 1000} seconds`;
    case 'stopped':
      return 'stopped by its caller';
    default:
      return end satisfies never;
  }
}
