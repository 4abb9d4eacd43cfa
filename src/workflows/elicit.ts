/**
 * Asking a person, durably: the question opens, the workflow waits for the first event that settles it or for the
 * deadline, and the outcome is written down by whatever goes on because of it.
 */
import { CancellationScope, setHandler, uuid4, workflowInfo } from '@temporalio/workflow';
import { canPresent } from '../elicitation/capabilities.ts';
import { advance } from '../elicitation/lifecycle.ts';
import type { Elicitation, LifecycleEvent } from '../elicitation/lifecycle.ts';
import type { Settlement } from '../elicitation/elicitation.ts';
import { modeOf } from '../turn/ask.ts';
import type { Ask, AskResult, OpenResult, QuestionOutcome } from '../turn/ask.ts';
import { openElicitation } from './activities.ts';
import { createDeadlines } from './deadlines.ts';
import { lookForConnection } from './look-for-connection.ts';
import { answerElicitation, connectionEstablished, elicitationQuery } from './messages.ts';
import type { AnswerElicitation, TurnInput } from './messages.ts';
import { createOutcomes } from './outcomes.ts';
import type { Outcomes } from './outcomes.ts';
import { readAnswer, readConnection } from './read-signal.ts';

export interface Questions {
  /** `id` unless the question has one already. */
  elicit(ask: Ask, user: string, id?: string): Promise<AskResult>;
  /** What became of a question that was asked. */
  given(id: string): QuestionOutcome;
  /** Something other than an answer has settled it; nothing happens if it is settled already. */
  close(id: string, event: Extract<LifecycleEvent, { type: 'withdrawn' | 'page-done' | 'abandoned' }>): void;
  /** What somebody is being asked right now, for operators. */
  open(): Elicitation[];
  /** Whether everything that was asked is still without an answer. */
  areAllOpen(): boolean;
  isOpen(id: string): boolean;
  outcomes: Outcomes;
}

type Answer = Omit<AnswerElicitation, 'elicitationId'>;

/** More than can be open at once: what is left over are strays. */
const maxEarly = 100;

export function createQuestions(turn: TurnInput): Questions {
  const questions = new Map<string, Elicitation>();
  /**
   * Answers to questions that nobody has asked yet, as far as is known here: a worker that died while it opened one left
   * it to be seen and answered, but no trace of it in history.
   */
  const early = new Map<string, Answer>();
  const awaited = new Set<string>();
  const outcomes = createOutcomes();
  const deadlines = createDeadlines();

  const apply = (id: string, event: LifecycleEvent) => {
    const question = questions.get(id);
    if (question) questions.set(id, advance(question, event));
  };
  const take = (id: string, { responseId, action, user, connected: version }: Answer) => {
    apply(id, { type: 'answered', responseId, action, user });
    const question = questions.get(id);
    if (!question || question.user !== user || version === undefined) return;
    apply(id, { type: 'connected', server: question.server, version });
  };
  setHandler(answerElicitation, (message: unknown) => {
    const answer = readAnswer(message);
    if (!answer) return;
    const { elicitationId, ...given } = answer;
    if (questions.has(elicitationId)) take(elicitationId, given);
    else if (early.size < maxEarly && !early.has(elicitationId)) early.set(elicitationId, given);
  });
  setHandler(connectionEstablished, (message: unknown) => {
    const connected = readConnection(message);
    if (!connected) return;
    for (const id of questions.keys()) apply(id, { type: 'connected', ...connected });
  });
  setHandler(elicitationQuery, (id) => questions.get(id) ?? null);

  async function elicit(ask: Ask, user: string, id = uuid4()): Promise<AskResult> {
    const mode = modeOf(ask);
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
    const answer = early.get(id);
    if (answer) take(id, answer);
    early.delete(id);
    awaited.add(id);
    const { workflowId } = workflowInfo();
    const asked = { turn, workflowId, elicitationId: id, user, ask, deadline };
    let isSeen = true;
    try {
      const opened = await CancellationScope.nonCancellable(() => openElicitation(asked));
      isSeen = opened.kind === 'opened';
      if (opened.kind === 'too-many-open' || opened.kind === 'call-ended') {
        questions.delete(id);
        return opened.kind === 'too-many-open' ? opened.kind : 'cancel';
      }
      await settled(id, ask, opened);
      return given(id).outcome;
    } catch (error) {
      apply(id, { type: 'abandoned' });
      throw error;
    } finally {
      awaited.delete(id);
      const question = questions.get(id);
      if (question && isSeen) outcomes.add(settlementOf(question));
    }
  }

  /** Until something settles the question, at the latest its deadline. */
  async function settled(id: string, ask: Ask, opened: Extract<OpenResult, { connectedVersion: unknown }>) {
    const question = questions.get(id);
    const connected = (version: number) => apply(id, { type: 'connected', server: ask.server, version });
    if (opened.connectedVersion !== null) connected(opened.connectedVersion);
    const summary = `elicitation: ${aimOf(question)}`;
    const inTime = await deadlines.wait(question?.deadline ?? 0, () => !isPending(id), summary);
    if (inTime) return;
    if (ask.kind === 'connection' && opened.mayGoUnnoticed) {
      const late = await lookForConnection({ turn, server: ask.server, seenVersion: ask.seenVersion });
      if (late !== null) connected(late);
    }
    apply(id, { type: 'deadline-passed' });
  }

  const isPending = (id: string) => questions.get(id)?.state.kind === 'pending';

  function given(id: string): QuestionOutcome {
    const question = questions.get(id);
    const { outcome, responseId }: Settlement = question ? settlementOf(question) : expired(id);
    return { elicitationId: id, outcome, responseId };
  }

  return {
    elicit,
    given,
    close: apply,
    open: () => [...questions.values()].filter(({ state }) => state.kind === 'pending'),
    areAllOpen: () => [...awaited].every(isPending),
    isOpen: isPending,
    outcomes,
  };
}

function settlementOf({ id, state }: Elicitation): Settlement {
  if (state.kind === 'pending') return expired(id);
  const { outcome, responseId = null, because } = state;
  return { elicitationId: id, outcome, responseId, ...(because && { because }) };
}

function expired(elicitationId: string): Settlement {
  return { elicitationId, outcome: 'expired', responseId: null };
}

/** What a question is for, to operators. */
function aimOf(question: Elicitation | undefined): string {
  if (!question) return 'unknown';
  if (question.connection) return `connect ${question.server}`;
  return question.mode === 'url' ? `open a page of ${question.server}` : `answer ${question.server}`;
}
