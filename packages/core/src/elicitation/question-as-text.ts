/** A question as text: for clients that show only text, and for models that pass it on to the user. Pure. */
import { isApproval } from './approval.ts';
import { askerTitle } from './elicitation.ts';
import type { ElicitationRequest } from './elicitation.ts';
import type { Field } from './form/field.ts';
import { fieldsOf } from './form/requested-schema.ts';
import { warningText } from './url-safety.ts';

/** For a person. `misfit`: what was wrong with the answer that was given. */
export function questionWords(question: ElicitationRequest, misfit?: string): string {
  const { context } = question;
  const lines = [
    whoAsks(question) + question.message,
    isApproval(context) && context.arguments,
    ...(context.warnings ?? []).map(warningText),
    misfit !== undefined && `Please answer again: ${misfit}`,
  ];
  return lines.filter((line) => typeof line === 'string').join('\n\n');
}

/**
 * The same for a model to pass on. A message of a server is quoted line by line, and other messages from their second line
 * on, so that they cannot be taken for the model's own text.
 */
export function quotedQuestionWords(question: ElicitationRequest, misfit?: string): string {
  const isStrangers = whoAsks(question) !== '';
  const lines = question.message.split('\n');
  const message = lines.map((line, index) => (isStrangers || index > 0 ? `> ${line}` : line)).join('\n');
  return questionWords({ ...question, message }, misfit);
}

/** Names the server that asks, so that its message cannot pass for ours. Empty for our own questions. */
function whoAsks({ context }: ElicitationRequest): string {
  const { trigger, host } = context;
  switch (trigger) {
    case 'mcp_elicitation':
    case 'a2a_input_required':
    case 'a2a_auth_required': {
      const title = askerTitle(context) ?? 'A server';
      return `${title}${host === undefined ? '' : ` (${host})`} asks:\n`;
    }
    case 'credential_required':
    case 'tool_elicitation':
    case 'approval':
    case 'model_question':
    case 'frontend_tool':
      return '';
    default:
      return trigger satisfies never;
  }
}

type Question =
  | Pick<Extract<ElicitationRequest, { mode: 'url' }>, 'mode' | 'message' | 'url'>
  | Pick<Extract<ElicitationRequest, { mode: 'form' }>, 'mode' | 'message' | 'requestedSchema'>;

/** More fields are counted instead of listed. */
const mostFields = 20;
const mostChoices = 20;

/** For a model that has to ask as text, because the user's client cannot show the question. */
export function questionAsText(question: Question): string {
  if (question.mode === 'url') return `${question.message}\n${question.url}`;
  return [question.message, ...fieldsAsText(question.requestedSchema)].join('\n');
}

export function fieldsAsText(requestedSchema: Record<string, unknown>): string[] {
  const fields = fieldsOf(requestedSchema);
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

/** Otherwise the asker's text could be taken for that of the model that quotes it. */
function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
