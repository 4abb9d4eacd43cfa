/** `interlude answer`: answers the questions to one user as they come, in tests and in automation. */
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';
import type { PlacedElicitation } from '@interlude-ai/core/contract/elicitation.ts';
import { decideFrom } from '@interlude-ai/kit/answers/answer-from.ts';
import type { Decide } from '@interlude-ai/kit/answers/answer-from.ts';
import { UsageError } from '@interlude-ai/kit/terminal/command.ts';
import { findToken } from '../login/find-token.ts';
import { createKeptLogins, loginsFolder } from '@interlude-ai/kit/terminal/kept-files.ts';
import { serviceAddress } from '../login/sign-in-server.ts';
import { dim, plain, print, toJsonText } from '@interlude-ai/kit/terminal/terminal-text.ts';
import { readSources } from '@interlude-ai/kit/try/answer-sources.ts';
import type { SourceValues } from '@interlude-ai/kit/try/answer-sources.ts';
import { exitCodes } from '@interlude-ai/kit/try/exit-codes.ts';
import { createTerminal } from '@interlude-ai/kit/try/terminal.ts';
import type { GivenSource } from '@interlude-ai/kit/try/try-options.ts';
import { askedBy } from './question-card.ts';

interface AnswerValues extends SourceValues {
  for?: string | undefined;
  once?: true | undefined;
  timeout?: number | undefined;
  url: string;
  token?: string | undefined;
  as?: string | undefined;
  json?: true | undefined;
}

/** Resolves with the exit code. Throws `UsageError`. */
export async function answerQuestions(
  given: readonly GivenSource[],
  values: AnswerValues,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  const { for: forUser, once = false, timeout, url, as, json = false } = values;
  const { stdin, stderr } = process;
  const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: json });
  const ended = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ended.abort());
  try {
    const sources = await readSources(given, values, { terminal, canPrompt: false });
    if (sources.length === 0)
      throw new UsageError(
        'Name a source of answers: --answers <file>, --responder <url>, --prompt or --decline.',
      );
    const token = values.token ?? env['INTERLUDE_TOKEN'];
    if (forUser !== undefined && token === undefined)
      throw new UsageError('--for needs an API key that acts for users, in INTERLUDE_TOKEN or --token.');
    const service = token === undefined ? serviceAddress(url) : url;
    const logins = createKeptLogins(loginsFolder(env));
    const source = await findToken(logins, { service, token, as });
    const client = createClient({
      baseUrl: url,
      token: () => source.token(),
      ...(forUser !== undefined && { forUser }),
    });
    terminal.line(`  Waiting for questions to ${forUser ?? source.who} at ${url} …`);
    return await runAnswer({
      client,
      decide: decideFrom(sources),
      isOnce: once,
      timeoutMs: timeout,
      line: (text) => terminal.line(text),
      report: (outcome) => json && print(`${toJsonText(outcome)}\n`),
      signal: ended.signal,
    });
  } finally {
    terminal.close();
  }
}

export interface AnswerOptions {
  client: Pick<Client, 'followElicitations' | 'allOpenElicitations' | 'answer'>;
  decide: Decide;
  /** Ends when a question was answered or left, and all other questions were seen. */
  isOnce: boolean;
  /** The longest time without a question; unlimited when undefined. */
  timeoutMs: number | undefined;
  /** For people. */
  line(text: string): void;
  /** For programs: the outcome of a question. */
  report(outcome: QuestionReport): void;
  signal: AbortSignal;
}

export interface QuestionReport {
  elicitationId: string;
  conversationId: string;
  message: string;
  /** `left`: it is still open, for a person. `unconfirmed`: it is unknown whether the answer arrived. */
  outcome: 'accept' | 'decline' | 'cancel' | 'left' | 'unconfirmed';
  /** The source that answered. */
  by?: string;
  reason?: string;
}

/** The exit code. Rejects with an `InterludeError` when the service refuses the list of questions. */
export async function runAnswer(options: AnswerOptions): Promise<number> {
  const { client, isOnce, timeoutMs, signal } = options;
  const over = new AbortController();
  const reading = AbortSignal.any([signal, over.signal]);
  const seen = new Set<string>();
  let atWork = 0;
  let left = 0;
  let isSilent = false;
  let silence: NodeJS.Timeout | undefined;

  function listen(): void {
    clearTimeout(silence);
    if (timeoutMs === undefined) return;
    silence = setTimeout(() => {
      isSilent = atWork === 0;
      if (isSilent) over.abort();
      else listen();
    }, timeoutMs);
  }

  async function answer(question: PlacedElicitation): Promise<void> {
    atWork += 1;
    const report = await answerOne(question, options, reading);
    atWork -= 1;
    if (!report) return;
    options.report(report);
    if (report.outcome === 'left' || report.outcome === 'unconfirmed') left += 1;
    if (!isOnce || atWork > 0) return;
    const open = await client.allOpenElicitations({ signal: reading });
    if (open.every(({ elicitationId }) => seen.has(elicitationId))) over.abort();
  }

  listen();
  try {
    for await (const question of client.followElicitations({ signal: reading })) {
      if (question.status !== 'pending' || seen.has(question.elicitationId)) continue;
      seen.add(question.elicitationId);
      listen();
      answer(question).catch((error: unknown) => over.abort(error));
    }
  } catch (error) {
    if (!reading.aborted) throw error;
  } finally {
    clearTimeout(silence);
  }
  if (over.signal.reason instanceof InterludeError) throw over.signal.reason;
  if (isSilent && seen.size === 0) {
    options.line(`  Nothing was asked within ${(timeoutMs ?? 0) / 1000} seconds.`);
    return exitCodes.timeout;
  }
  return left > 0 ? exitCodes.unanswered : exitCodes.done;
}

/** Undefined when it was settled elsewhere, or it is too late. */
async function answerOne(
  question: PlacedElicitation,
  { client, decide, line }: AnswerOptions,
  signal: AbortSignal,
): Promise<QuestionReport | undefined> {
  const { elicitationId, conversationId, message } = question;
  const about = { elicitationId, conversationId, message };
  const [first = ''] = plain(message).split('\n');
  line(`\n  ${dim(askedBy(question))}\n  ${first}`);
  const leave = (reason: string): QuestionReport => {
    line(`  ✗ left open: ${plain(reason)}`);
    return { ...about, outcome: 'left', reason };
  };
  const decided = await decide(question, { signal });
  if (decided.kind === 'left') return leave(decided.reason);
  const { decision, by } = decided;
  try {
    await client.answer({ conversationId, elicitationId, ...decision }, { signal });
  } catch (error) {
    if (!(error instanceof InterludeError)) throw error;
    if (error.status === 409 || error.status === 410) {
      line(dim('  – settled elsewhere'));
      return undefined;
    }
    if (error.status !== 0 && error.status < 500) return leave(error.errors[0]?.detail ?? error.message);
    line(`  ✗ not confirmed: ${plain(error.message)}`);
    return { ...about, outcome: 'unconfirmed', by, reason: error.message };
  }
  line(`  ✓ ${decision.action}, by ${by}`);
  return { ...about, outcome: decision.action, by };
}
