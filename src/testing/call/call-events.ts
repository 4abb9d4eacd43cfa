/** What is seen of a call while it goes on, and what it was when it is over. Plain data. */
import type { CallToolResult } from '@modelcontextprotocol/client';
import type { GivenAnswer } from '../answers/collect-answers.ts';
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
  /** Old era: the server does not wait for this question any more. */
  | { type: 'withdrawn'; key: string };

/** How a call ended. */
export type CallEnd =
  /** `isError` in it is the tool's own word that it failed. */
  | { kind: 'result'; result: CallToolResult }
  /** The server answered with a JSON-RPC error. */
  | { kind: 'error'; code: number; message: string; data?: unknown }
  /** A question had no answer, or one that did not fit: nothing was sent after it. */
  | { kind: 'unanswered'; reason: string; questions: readonly Question[] }
  /** The server broke the specification. */
  | { kind: 'fault'; fault: Fault }
  /** The server said nothing for too long; or the call took too long, whatever it said. */
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
