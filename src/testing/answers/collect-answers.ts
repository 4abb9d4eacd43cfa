/** Asks the sources in their order, and lets nothing pass that does not fit the question. */
import { coerceContent } from '../../elicitation/form/coerce-content.ts';
import { isAction } from '../../elicitation/elicitation.ts';
import type { AnsweredBy } from '../../elicitation/elicitation.ts';
import { checkForm } from '../../form-check/form-check.ts';
import type { Answer, AnswerSource, Question, Round } from './source.ts';
import { SourceError } from './source.ts';

/** An answer that fits its question. */
export interface GivenAnswer extends Answer {
  key: string;
  /** The source it came from. */
  by: string;
  kind?: AnsweredBy;
}

export type Collected =
  | { kind: 'answers'; answers: GivenAnswer[] }
  /** Nothing must be sent. `reason` is a sentence that names the question. */
  | { kind: 'unanswered'; reason: string; questions: Question[] };

export async function collectAnswers(
  sources: readonly AnswerSource[],
  round: Round,
  { signal }: { signal: AbortSignal },
): Promise<Collected> {
  const given = new Map<string, GivenAnswer>();
  const left = () => round.questions.filter(({ key }) => !given.has(key));
  for (const source of sources) {
    const questions = left();
    if (questions.length === 0) break;
    try {
      const answers = await source.answer({ ...round, questions }, { signal });
      for (const [key, answer] of answers) given.set(key, fitting(source, questions, key, answer));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      return { kind: 'unanswered', reason: error.message, questions };
    }
  }
  const unanswered = left();
  if (unanswered.length > 0)
    return { kind: 'unanswered', reason: nobodyAnswers(round, unanswered), questions: unanswered };
  return { kind: 'answers', answers: round.questions.flatMap(({ key }) => given.get(key) ?? []) };
}

function fitting(
  { name, kind }: AnswerSource,
  questions: readonly Question[],
  key: string,
  answer: Answer,
): GivenAnswer {
  const question = questions.find((one) => one.key === key);
  if (!question) throw new SourceError(`${name} answers "${key}", which was not asked.`);
  const { action, content } = answer;
  const by = { by: name, ...(kind && { kind }) };
  if (!isAction(action))
    throw new SourceError(
      `${name} answers ${inQuotes(question)} with the action ${JSON.stringify(action)}; there is accept, decline and cancel.`,
    );
  if (action !== 'accept' || question.request.mode === 'url') return { key, action, ...by };
  const filled = withRequiredDefaults(question, coerceContent(question.fields, content ?? {}));
  const misfits = checkForm(question.fields, filled);
  if (misfits.length > 0) {
    const details = misfits.map((misfit) => `"${misfit.name}" ${misfit.detail}`).join('; ');
    throw new SourceError(`What ${name} answers to ${inQuotes(question)} does not fit: ${details}.`);
  }
  return { key, action, content: filled, ...by };
}

/** What a person would send who changes nothing. Optional fields that were left out stay out. */
function withRequiredDefaults(
  { fields }: Question,
  content: Record<string, unknown>,
): Record<string, unknown> {
  const defaults = fields.filter(
    (field) => field.isRequired && field.default !== undefined && !Object.hasOwn(content, field.name),
  );
  return { ...content, ...Object.fromEntries(defaults.map((field) => [field.name, field.default])) };
}

function nobodyAnswers({ tool, round }: Round, questions: readonly Question[]): string {
  const [first] = questions;
  const others = questions.length - 1;
  const more = others === 0 ? '' : ` (and ${others} more)`;
  return `Nothing answers ${first ? inQuotes(first) : 'a question'}${more}, which ${tool} asks in round ${round}.`;
}

function inQuotes({ request }: Question): string {
  const [line = ''] = request.message.split('\n');
  return `“${line.length > 80 ? `${line.slice(0, 79)}…` : line}”`;
}
