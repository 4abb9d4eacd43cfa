/** The builder of the retry: the same call again, with the answers and the server's state as it was. */
import type { QuestionAnswer } from '../../remote/input-required.ts';
import type { InputRequired } from '../../remote/input-required.ts';
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import { retryParams } from '../../remote/mcp/modern/input-required.ts';

/**
 * `params` are those of the first call, untouched; what an earlier round added is left out. Throws `TypeError` when a
 * question has no answer, or an answer has no question: then nothing must be sent.
 */
export function buildRetry(
  params: Record<string, unknown>,
  { questions, resume }: InputRequired,
  answers: readonly QuestionAnswer[],
): Record<string, unknown> {
  if (!isRecord(params)) throw new TypeError('The parameters of the call are no object.');
  const known = new Set(questions.map(({ key }) => key));
  const given = new Set(answers.map(({ key }) => key));
  for (const key of known) if (!given.has(key)) throw new TypeError(`The question "${key}" has no answer.`);
  for (const key of given) if (!known.has(key)) throw new TypeError(`There is no question "${key}".`);
  const { inputResponses: _responses, requestState: _state, ...first } = params;
  // Refused until pages are done: the same call, and nothing else.
  if (resume.kind !== 'retry') return first;
  return { ...first, ...retryParams([...answers], resume.requestState) };
}
