/** Questions that an editor has no dialog for: what its user reads instead. Pure. */
import type { Decision } from '../../../client/answer-questions.ts';
import type { ElicitationRequest } from '../../../contract/elicitation.ts';
import { answerAddress, connectionsAddress } from '../../../elicitation/account-pages.ts';
import { secretField } from '../../../elicitation/form/secret-fields.ts';
import { defaultsOf } from '../../../elicitation/form/requested-schema.ts';
import { fieldsAsText } from '../../../elicitation/question-as-text.ts';
import { fieldsOf, wordsOf } from './to-request.ts';

/**
 * A form that has a value for all it needs goes on with these values, as ACP wants it. Not one with a yes or no: that may
 * be a consent, which nobody gives by default.
 */
export function answerByDefault(question: ElicitationRequest): { words: string; decision: Decision } | null {
  if (question.mode === 'url') return null;
  const fields = fieldsOf(question);
  const content = defaultsOf(fields);
  const isWhole = fields.every((field) => !field.isRequired || field.default !== undefined);
  const isHarmless = fields.every(({ kind }) => kind !== 'boolean');
  if (!isWhole || !isHarmless || Object.keys(content).length === 0) return null;
  const taken = fields.flatMap(({ name, title }) =>
    name in content ? [`- ${title}: ${JSON.stringify(content[name])}`] : [],
  );
  const words = [
    wordsOf(question),
    'Your editor cannot show this form, so these values were taken:',
    ...taken,
  ];
  return { words: words.join('\n'), decision: { action: 'accept', content } };
}

export interface InWords {
  words: string;
  /** Whether the next words of the user are the answer. */
  isAnswerable: boolean;
}

export function inWords(question: ElicitationRequest, service: string): InWords {
  // Where an account is connected at any time, because a link may not be passed on in words.
  if (question.mode === 'url')
    return {
      words: `${wordsOf(question)}\n\nYour editor cannot open this. Go to ${connectionsAddress(service)}`,
      isAnswerable: false,
    };
  const fields = fieldsOf(question);
  if (secretField(fields, question.requestedSchema) !== null)
    return { words: notShown(question, service), isAnswerable: false };
  const how = howToAnswer(fields.length);
  const lines = [wordsOf(question), fieldsAsText(question.requestedSchema).join('\n'), how];
  return { words: lines.filter((line) => line !== '').join('\n\n'), isAnswerable: true };
}

function howToAnswer(fields: number): string {
  if (fields === 0) return 'Answer “yes” or “no” in your next message.';
  if (fields === 1) return 'Answer in your next message, or “no” to decline.';
  return 'Answer in your next message with a JSON object that has these fields, or “no” to decline.';
}

/** The editor has failed to show it. */
export function notShown(question: ElicitationRequest, service: string): string {
  const where =
    question.mode === 'url' ? connectionsAddress(service) : answerAddress(service, question.elicitationId);
  return `${wordsOf(question)}\n\nYour editor did not show this question. It stays open: answer it at ${where}, or send any message to be asked again.`;
}
