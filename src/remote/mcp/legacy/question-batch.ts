/** Batches questions that come one by one, so that they are put to the user together: servers that want two things ask for both at once. */
import type { ServerQuestion } from '../../input-required.ts';
import { maxQuestions } from '../../read-question.ts';

/** Long enough for the second of two to arrive, too short to be noticed. */
const windowMs = 50;

export interface QuestionBatch extends Disposable {
  add(question: ServerQuestion): void;
  withdraw(key: string): void;
  count(): number;
  /** Resolves with all of them a moment after the last; never when there are none. */
  complete: Promise<ServerQuestion[]>;
}

/** `onTooMany` is called when more come than anybody can be asked. */
export function batchQuestions(onTooMany: () => void): QuestionBatch {
  const questions = new Map<string, ServerQuestion>();
  const { promise: complete, resolve } = Promise.withResolvers<ServerQuestion[]>();
  let timer: NodeJS.Timeout | undefined;
  return {
    add(question) {
      if (questions.size >= maxQuestions) return onTooMany();
      questions.set(question.key, question);
      if (timer) timer.refresh();
      // What has arrived while the process was busy is read before the timer's turn is over.
      else timer = setTimeout(() => setImmediate(() => resolve([...questions.values()])), windowMs);
    },
    withdraw: (key) => void questions.delete(key),
    count: () => questions.size,
    complete,
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}
