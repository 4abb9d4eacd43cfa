/**
 * The questions this workflow has put to people, and the state of each. What is said to the workflow about one, by
 * signal, is applied here; the lifecycle decides whether it counts.
 */
import { setHandler } from '@temporalio/workflow';
import type { Settlement } from '../elicitation/elicitation.ts';
import { advance, settlementOf } from '../elicitation/lifecycle.ts';
import type { Elicitation, LifecycleEvent } from '../elicitation/lifecycle.ts';
import { createEarlyAnswers } from './early-answers.ts';
import type { Answer } from './early-answers.ts';
import { answerElicitation, connectionEstablished, elicitationQuery } from './messages.ts';
import { readAnswer, readConnection } from './read-signal.ts';

export interface Questions {
  /** From now on answers to it count. */
  add(question: Elicitation): void;
  /** It was not opened: nobody has seen it. */
  remove(id: string): void;
  /** Nothing happens if the question is settled already, or is not known. */
  apply(id: string, event: LifecycleEvent): void;
  isPending(id: string): boolean;
  /** What became of a question; one that nothing has settled is `expired`. Undefined when it was never opened. */
  settlement(id: string): Settlement | undefined;
  /** What somebody is being asked right now. */
  pending(): Elicitation[];
}

export function createQuestions(): Questions {
  const questions = new Map<string, Elicitation>();
  const early = createEarlyAnswers();

  function apply(id: string, event: LifecycleEvent): void {
    const question = questions.get(id);
    if (question) questions.set(id, advance(question, event));
  }

  function answer(id: string, { responseId, action, user, connected: version }: Answer): void {
    apply(id, { type: 'answered', responseId, action, user });
    const question = questions.get(id);
    if (!question || question.user !== user || version === undefined) return;
    apply(id, { type: 'connected', server: question.server, version });
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
  };
}
