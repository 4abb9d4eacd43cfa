/**
 * Asking a person, durably: the question opens, the workflow waits for the first event that settles it or
 * for the deadline, and the outcome is written down beside whatever comes next.
 */
import { CancellationScope, condition, setHandler, uuid4, workflowInfo } from '@temporalio/workflow';
import type { GivenAnswer } from '../activities/call-rounds.ts';
import type { Ask } from '../activities/elicitations.ts';
import { canPresent } from '../elicitation/capabilities.ts';
import type { Outcome } from '../elicitation/elicitation.ts';
import { advance } from '../elicitation/lifecycle.ts';
import type { Elicitation, LifecycleEvent } from '../elicitation/lifecycle.ts';
import { openElicitation, settleElicitation } from './activities.ts';
import { lookForConnection } from './look-for-connection.ts';
import { answerElicitation, connectionEstablished, elicitationQuery } from './messages.ts';
import type { TurnInput } from './messages.ts';
import { readAnswer, readConnection } from './read-signal.ts';

export type Asked = Outcome | 'unsupported' | 'too-many-open';

export interface Questions {
  /** `id` unless the question has one already. */
  elicit(ask: Ask, user: string, id?: string): Promise<Asked>;
  /** What became of a question that was asked. */
  given(id: string): GivenAnswer;
  /** Something other than an answer has settled it; nothing happens if it is settled already. */
  close(id: string, event: Extract<LifecycleEvent, { type: 'withdrawn' | 'page-done' | 'abandoned' }>): void;
  /** What somebody is being asked right now, for operators. */
  open(): Elicitation[];
  /** Whether everything that was asked is still without an answer. */
  areAllOpen(): boolean;
  /** Starts writing down what was decided: beside whatever was started before this is called, never before it. */
  writeOutcomes(): void;
  /** Resolves when every outcome is written down. */
  settled(): Promise<void>;
}

type Answered = Extract<LifecycleEvent, { type: 'answered' }>;

/** More than can be open at once: what is left over are strays. */
const maxEarly = 100;

export function createQuestions(turn: TurnInput): Questions {
  const questions = new Map<string, Elicitation>();
  /**
   * Answers to questions that nobody has asked yet, as far as is known here: a worker that died while it opened one left
   * it to be seen and answered, but no trace of it in history.
   */
  const early = new Map<string, Answered>();
  const awaited = new Set<string>();
  const unwritten: string[] = [];
  const writes: Promise<void>[] = [];

  const apply = (id: string, event: LifecycleEvent) => {
    const question = questions.get(id);
    if (question) questions.set(id, advance(question, event));
  };
  setHandler(answerElicitation, (message: unknown) => {
    const answer = readAnswer(message);
    if (!answer) return;
    const { elicitationId, ...given } = answer;
    const answered: Answered = { type: 'answered', ...given };
    if (questions.has(elicitationId)) apply(elicitationId, answered);
    else if (early.size < maxEarly && !early.has(elicitationId)) early.set(elicitationId, answered);
  });
  setHandler(connectionEstablished, (message: unknown) => {
    const connected = readConnection(message);
    if (!connected) return;
    for (const id of questions.keys()) apply(id, { type: 'connected', ...connected });
  });
  setHandler(elicitationQuery, (id) => questions.get(id) ?? null);

  async function elicit(ask: Ask, user: string, id = uuid4()): Promise<Asked> {
    const mode = ask.kind === 'connection' ? 'url' : ask.mode;
    if (!canPresent(mode, turn.capabilities)) return 'unsupported';
    const deadline = Date.now() + turn.limits.elicitationTimeoutMs;
    const { server } = ask;
    // Known before it is opened, so that an answer which overtakes us counts.
    questions.set(id, {
      id,
      mode,
      user,
      deadline,
      server,
      ...(ask.kind === 'connection' && { connection: { seenVersion: ask.seenVersion } }),
      state: { kind: 'pending' },
    });
    const answered = early.get(id);
    if (answered) apply(id, answered);
    early.delete(id);
    awaited.add(id);
    const { workflowId } = workflowInfo();
    const opened = await CancellationScope.nonCancellable(() =>
      openElicitation({ turn, workflowId, elicitationId: id, user, ask, deadline }),
    );
    if (opened.kind === 'too-many-open' || opened.kind === 'call-ended') {
      questions.delete(id);
      awaited.delete(id);
      return opened.kind === 'too-many-open' ? opened.kind : 'cancel';
    }
    const connected = (version: number) => apply(id, { type: 'connected', server, version });
    const lookout =
      ask.kind === 'connection' && opened.mayGoUnnoticed
        ? lookForConnection({ turn, server, seenVersion: ask.seenVersion }, connected)
        : null;
    if (opened.connectedVersion !== null) connected(opened.connectedVersion);
    try {
      const inTime = await condition(() => !isPending(id), Math.max(1, deadline - Date.now()), {
        summary: `elicitation: ${aimOf(questions.get(id))}`,
      });
      const late = inTime ? null : ((await lookout?.lastLook()) ?? null);
      if (late !== null) connected(late);
      if (!inTime) apply(id, { type: 'deadline-passed' });
      return given(id).outcome;
    } catch (error) {
      apply(id, { type: 'abandoned' });
      throw error;
    } finally {
      lookout?.end();
      awaited.delete(id);
      if (opened.kind === 'opened') unwritten.push(id);
    }
  }

  function writeOutcomes(): void {
    for (const id of unwritten.splice(0)) writes.push(settle(id));
  }

  const isPending = (id: string) => questions.get(id)?.state.kind === 'pending';

  function given(id: string): GivenAnswer {
    const state = questions.get(id)?.state;
    return state?.kind === 'settled'
      ? { elicitationId: id, outcome: state.outcome, responseId: state.responseId ?? null }
      : { elicitationId: id, outcome: 'expired', responseId: null };
  }

  function settle(id: string): Promise<void> {
    const question = questions.get(id);
    const settled = given(id);
    const because = question?.state.kind === 'settled' ? question.state.because : undefined;
    const summary = `${aimOf(question)}: ${settled.outcome}`;
    return CancellationScope.nonCancellable(() =>
      settleElicitation.executeWithOptions({ summary }, [{ ...settled, ...(because && { because }) }]),
    );
  }

  return {
    elicit,
    given,
    close: apply,
    open: () => [...questions.values()].filter(({ state }) => state.kind === 'pending'),
    areAllOpen: () => [...awaited].every(isPending),
    writeOutcomes,
    settled: async () => {
      writeOutcomes();
      await Promise.all(writes);
    },
  };
}

/** What a question is for, to operators. */
function aimOf(question: Elicitation | undefined): string {
  if (!question) return 'unknown';
  if (question.connection) return `connect ${question.server}`;
  return question.mode === 'url' ? `open a page of ${question.server}` : `answer ${question.server}`;
}
