/** `interlude answer`: the questions to one user, answered as they come. */
import type { Client } from '../../client/client.ts';
import { InterludeError } from '../../client/interlude-error.ts';
import type { PlacedElicitation } from '../../contract/elicitation.ts';
import type { Decide } from '../../testing/answers/answer-from.ts';
import { dim, plain } from '../chat/wording.ts';
import { askedBy } from '../chat/question-card.ts';
import { exitCodes } from '../try/exit-codes.ts';

export interface AnswerOptions {
  client: Pick<Client, 'followElicitations' | 'allOpenElicitations' | 'answer'>;
  decide: Decide;
  /** Ends when a question was answered, or left, and none is open that was not. */
  isOnce: boolean;
  /** How long nothing may be asked; for ever unless given. */
  timeoutMs: number | undefined;
  /** For people. */
  line(text: string): void;
  /** For programs: what became of a question. */
  report(outcome: QuestionReport): void;
  signal: AbortSignal;
}

export interface QuestionReport {
  elicitationId: string;
  conversationId: string;
  message: string;
  /** `left`: it is still open, for a person. `unconfirmed`: nobody said whether the answer arrived. */
  outcome: 'accept' | 'decline' | 'cancel' | 'left' | 'unconfirmed';
  /** The source, where one answered. */
  by?: string;
  reason?: string;
}

/** The exit code. Rejects with an `InterludeError` where the service refuses to say what is asked. */
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

/** Undefined when somebody else was faster, or it is too late. */
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
