/** What becomes of a question that somebody opens too late: settled elsewhere, by the clock, or by what came next. */
import type { Question } from '../../service/questions.ts';
import { settledWords } from '../../slack/blocks/question-message.ts';
import type { SlackContext } from './context.ts';

export async function settledSince(
  { questions }: Pick<SlackContext['slack'], 'questions'>,
  { id, request, status, because }: Question,
): Promise<string> {
  const isElsewhere = await questions.wasSettledElsewhere(id);
  const settled = { ...request, status, ...(because !== null && { because }) };
  return `This question is settled already. ${settledWords(settled, isElsewhere)}`;
}
