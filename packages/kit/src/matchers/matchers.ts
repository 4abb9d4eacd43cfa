/**
 * Matchers for reports of `callTool`: `expect.extend(matchers)` in vitest and jest. `@interlude-ai/kit/vitest` does
 * that, and declares their types.
 */
import type { Question } from '../answers/source.ts';
import { textOfEnd } from '../call/call-events.ts';
import type { CallEnd, ToolCallReport } from '../call/call-events.ts';

/** Text in the message (in any case), a pattern, or several conditions that must all hold. */
export type ExpectedQuestion =
  | string
  | RegExp
  | { message?: string | RegExp; field?: string; mode?: 'form' | 'url' };

interface Verdict {
  pass: boolean;
  message: () => string;
}

export const matchers = {
  /** All questions of the call, in order, and no others. Without arguments: nothing was asked. */
  toHaveAsked(report: unknown, ...expected: ExpectedQuestion[]): Verdict {
    const { rounds, end } = readReport(report);
    const questions = [
      ...rounds.flatMap((round) => round.questions),
      // Asked and not answered.
      ...(end.kind === 'unanswered' ? end.questions : []),
    ];
    const pass =
      questions.length === expected.length && expected.every((one, n) => isLike(one, questions[n]));
    const asked =
      questions.length === 0 ? 'It asked nothing.' : `It asked:\n${list(questions.map(describe))}`;
    return {
      pass,
      message: () =>
        pass
          ? `It was not to ask this.\n${asked}`
          : `It was to ask:\n${list(expected.map(inWords))}\n${asked}`,
    };
  },

  /** The call ended with a result that is no error; with `words`, its text contains them. */
  toSucceed(report: unknown, words?: string | RegExp): Verdict {
    const { end } = readReport(report);
    const pass = isSuccess(end) && (words === undefined || holds(textOfEnd(end), words));
    return { pass, message: () => `It was ${pass ? 'not ' : ''}to succeed${suffix(words)}. ${ended(end)}` };
  },

  /** It ended in another way; with `words`, the reason contains them. */
  toFail(report: unknown, words?: string | RegExp): Verdict {
    const { end } = readReport(report);
    const pass = !isSuccess(end) && (words === undefined || holds(textOfEnd(end), words));
    return { pass, message: () => `It was ${pass ? 'not ' : ''}to fail${suffix(words)}. ${ended(end)}` };
  },
};

export interface ToolCallMatchers<Result = void> {
  toHaveAsked(...expected: ExpectedQuestion[]): Result;
  toSucceed(words?: string | RegExp): Result;
  toFail(words?: string | RegExp): Result;
}

function readReport(value: unknown): ToolCallReport {
  const report = value as Partial<ToolCallReport> | null;
  if (!report || typeof report !== 'object' || !report.end || !Array.isArray(report.rounds))
    throw new TypeError('This matcher is for what callTool resolves to.');
  return report as ToolCallReport;
}

function isSuccess(end: CallEnd): boolean {
  return end.kind === 'result' && end.result.isError !== true;
}

function isLike(expected: ExpectedQuestion, question: Question | undefined): boolean {
  if (!question) return false;
  const { request, fields } = question;
  if (typeof expected === 'string' || expected instanceof RegExp) return holds(request.message, expected);
  const { message, field, mode } = expected;
  return (
    (message === undefined || holds(request.message, message)) &&
    (field === undefined || fields.some(({ name }) => name === field)) &&
    (mode === undefined || request.mode === mode)
  );
}

function holds(text: string, words: string | RegExp): boolean {
  return typeof words === 'string'
    ? text.toLowerCase().includes(words.toLowerCase())
    : text.search(words) !== -1;
}

const list = (lines: string[]) =>
  lines.length === 0 ? '  nothing' : lines.map((line) => `  ${line}`).join('\n');

function describe({ request, fields }: Question): string {
  const what = request.mode === 'url' ? 'a link' : `a form: ${fields.map(({ name }) => name).join(', ')}`;
  return `“${request.message}” (${what})`;
}

function inWords(expected: ExpectedQuestion): string {
  if (typeof expected === 'string') return `“${expected}”`;
  if (expected instanceof RegExp) return String(expected);
  const { message, field, mode } = expected;
  const parts = [
    message !== undefined && inWords(message),
    field !== undefined && `with the field ${field}`,
    mode !== undefined && `as a ${mode}`,
  ];
  return parts.filter(Boolean).join(' ');
}

const suffix = (words: string | RegExp | undefined) => (words === undefined ? '' : ` with ${inWords(words)}`);

const ended = (end: CallEnd) => `It ended as "${end.kind}": ${textOfEnd(end)}`;
