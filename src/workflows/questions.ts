/**
 * The questions this workflow has asked, and the state of each. Signals about them are handled here; the pure lifecycle
 * (elicitation/lifecycle.ts) decides what each one changes.
 */
import { setHandler } from '@temporalio/workflow';
import type { Settlement } from '../elicitation/elicitation.ts';
import { advance, settlementOf } from '../elicitation/lifecycle.ts';
import type { Elicitation, LifecycleEvent } from '../elicitation/lifecycle.ts';
import { createEarlyAnswers } from './early-answers.ts';
import type { Answer } from './early-answers.ts';
import { createHeldAnswers } from './held-answers.ts';
import type { HeldAnswers } from './held-answers.ts';
import { answerElicitation, connectionEstablished, elicitationQuery } from './messages.ts';
import { readAnswer, readConnection } from './read-signal.ts';

export interface Questions {
  /** From now on answers to it count; one that came early is applied at once. */
  add(question: Elicitation): void;
  /** For a question that was not opened, so that nobody has seen it. */
  remove(id: string): void;
  /** Changes nothing if the question is settled already or unknown. */
  apply(id: string, event: LifecycleEvent): void;
  isPending(id: string): boolean;
  /** How a question ended; `expired` if nothing has settled it. Undefined when it was never opened. */
  settlement(id: string): Settlement | undefined;
  /** The open questions. */
  pending(): Elicitation[];
  /** Of answers that would settle a question, and what comes after them. */
  held: HeldAnswers;
}

export function createQuestions(): Questions {
  const questions = new Map<string, Elicitation>();
  const early = createEarlyAnswers();
  const held = createHeldAnswers();

  function apply(id: string, event: LifecycleEvent): void {
    const question = questions.get(id);
    if (!question) return;
    if (held.holds(id) && event.type !== 'abandoned') held.keep(id, () => apply(id, event));
    else questions.set(id, advance(question, event));
  }

  function answer(id: string, given: Answer): void {
    const question = questions.get(id);
    if (!question) return;
    const answered = afterAnswer(question, given);
    const isSettled = question.state.kind === 'pending' && answered.state.kind === 'settled';
    if (held.holds(id) || (isSettled && held.isHolding())) held.keep(id, () => answer(id, given));
    else questions.set(id, answered);
  }

  const isPending = (id: string) => questions.get(id)?.state.kind === 'pending';

  setHandler(answerElicitation, (message: unknown) => {
    const read = readAnswer(message);
    if (!read) return;
    const { elicitationId, ...given } = read;
    if (questions.has(elicitationId)) answer(elicitationId, given);
    else early.keep(elicitationId, given);
  });
  setHandler(connectionEstablished, (message: unknown) => {
    const connected = readConnection(message);
    if (!connected) return;
    for (const id of questions.keys()) apply(id, { type: 'connected', ...connected });
  });
  setHandler(elicitationQuery, (id) => questions.get(id) ?? null);

  return {
    add(question) {
      questions.set(question.id, question);
      const given = early.take(question.id);
      if (given) answer(question.id, given);
    },
    remove: (id) => void questions.delete(id),
    apply,
    isPending,
    settlement(id) {
      const question = questions.get(id);
      return (
        question && (settlementOf(question) ?? { elicitationId: id, outcome: 'expired', responseId: null })
      );
    },
    pending: () => [...questions.values()].filter(({ id }) => isPending(id)),
    held,
  };
}

function afterAnswer(
  question: Elicitation,
  { responseId, action, user, connected: version }: Answer,
): Elicitation {
  const answered = advance(question, { type: 'answered', responseId, action, user });
  if (question.user !== user || version === undefined) return answered;
  return advance(answered, { type: 'connected', server: question.server, version });
}
