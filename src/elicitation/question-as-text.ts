/**
 * A question as text, for a model that has to pass it on in words because the user's client cannot show it. Everything
 * in it is the asker's own text, which is quoted as such. Pure.
 */
import type { ElicitationRequest } from './elicitation.ts';
import type { Field } from './form/field.ts';
import { readRequestedSchema } from './form/requested-schema.ts';

type Question =
  | Pick<Extract<ElicitationRequest, { mode: 'url' }>, 'mode' | 'message' | 'url'>
  | Pick<Extract<ElicitationRequest, { mode: 'form' }>, 'mode' | 'message' | 'requestedSchema'>;

/** More fields than anybody answers in a sentence are counted instead of listed. */
const mostFields = 20;
const mostChoices = 20;

export function questionAsText(question: Question): string {
  if (question.mode === 'url') return `${question.message}\n${question.url}`;
  return [question.message, ...fieldsAsText(question.requestedSchema)].join('\n');
}

/** One line for each field of a form. */
export function fieldsAsText(requestedSchema: Record<string, unknown>): string[] {
  const form = readRequestedSchema(requestedSchema);
  const fields = form.kind === 'form' ? form.fields : [];
  const left = fields.length - mostFields;
  return [...fields.slice(0, mostFields).map(fieldAsText), ...(left > 0 ? [`(and ${left} more)`] : [])];
}

function fieldAsText(field: Field): string {
  const { title, description, isRequired } = field;
  const facts = [kindInWords(field), isRequired ? 'required' : 'optional'];
  if (field.default !== undefined) facts.push(`if left out: ${JSON.stringify(field.default)}`);
  const about = description === undefined ? '' : `: ${oneLine(description)}`;
  return `- ${oneLine(title)} (${facts.join('; ')})${about}`;
}

function kindInWords(field: Field): string {
  switch (field.kind) {
    case 'text':
      return field.format === undefined ? 'text' : formatsInWords[field.format];
    case 'number':
      return field.isInteger ? 'whole number' : 'number';
    case 'boolean':
      return 'yes or no';
    case 'choice':
      return `one of ${choicesInWords(field.choices)}`;
    case 'choices':
      return `any of ${choicesInWords(field.choices)}`;
    default:
      return field satisfies never;
  }
}

const formatsInWords = { email: 'email address', uri: 'link', date: 'date', 'date-time': 'date and time' };

function choicesInWords(choices: { title: string }[]): string {
  const titles = choices.slice(0, mostChoices).map(({ title }) => oneLine(title));
  return [...titles, ...(choices.length > mostChoices ? ['…'] : [])].join(' / ');
}

/** Or else an asker could go on in the words of whoever quotes it. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
