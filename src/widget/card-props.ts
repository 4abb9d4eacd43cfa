import type { ElicitationRequest } from '../contract/elicitation.ts';
import type { Answer } from './use-answer.ts';
import type { Words } from './words.ts';

/** What every kind of question is drawn from. */
export interface CardProps {
  question: ElicitationRequest;
  answer: Answer;
  words: Words;
}
