/**
 * Answers to questions that this workflow does not know of yet: a worker that died after it had written a question to
 * the database, but before history recorded it, leaves a question that people can already answer. The first answer to
 * each counts.
 */
import type { AnswerElicitation } from './messages.ts';

export type Answer = Omit<AnswerElicitation, 'elicitationId'>;

export interface EarlyAnswers {
  keep(id: string, answer: Answer): void;
  /** The answer to a question that is about to be opened, if there is one. */
  take(id: string): Answer | undefined;
}

/** More than can be open at once: whatever exceeds it is about questions that do not exist. */
const maxKept = 100;

export function createEarlyAnswers(): EarlyAnswers {
  const answers = new Map<string, Answer>();
  return {
    keep(id, answer) {
      if (answers.size < maxKept && !answers.has(id)) answers.set(id, answer);
    },
    take(id) {
      const answer = answers.get(id);
      answers.delete(id);
      return answer;
    },
  };
}
