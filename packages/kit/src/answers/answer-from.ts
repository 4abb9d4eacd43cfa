/** Asks sources of answers: for the questions of a running service, and for a round of a tool call. */
import type { Decision, OnElicitation } from '@interlude-ai/client/answer-questions.ts';
import type { ElicitationRequest } from '@interlude-ai/core/contract/elicitation.ts';
import { isAction } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { AnsweredBy } from '@interlude-ai/core/elicitation/elicitation.ts';
import { coerceContent } from '@interlude-ai/core/elicitation/form/coerce-content.ts';
import { checkForm } from '@interlude-ai/core/form-check.ts';
import { SourceError, toQuestion } from './source.ts';
import type { Answer, AnswerSource, Question, Round } from './source.ts';

export type Decided =
  | { kind: 'decided'; decision: Decision; by: string }
  /** Nothing is sent. `reason` is a sentence that names the question. */
  | { kind: 'left'; reason: string };

export type Decide = (question: ElicitationRequest, options: { signal: AbortSignal }) => Promise<Decided>;

/**
 * Asks the sources in their order. Questions of one call that were opened together, or are decided at the same time,
 * are one round. Only an approval shows its arguments; `arguments` is empty otherwise.
 */
export function decideFrom(sources: readonly AnswerSource[]): Decide {
  const calls = new Map<string, { round: number; open: number; expiresAt: string }>();
  return async (asked, options) => {
    const { elicitationId, context, expiresAt } = asked;
    const callId = context.toolCallId ?? elicitationId;
    const call = calls.get(callId) ?? { round: 0, open: 0, expiresAt: '' };
    calls.set(callId, call);
    if (call.open === 0 && call.expiresAt !== expiresAt) call.round += 1;
    call.open += 1;
    call.expiresAt = expiresAt;
    const round = {
      tool: context.toolName ?? '',
      arguments: argumentsIn(context['arguments']),
      round: call.round,
      questions: [toQuestion({ key: elicitationId, request: asked })],
      ...(context.serverTitle !== undefined && { server: context.serverTitle }),
    };
    try {
      return toDecided(await collectAnswers(sources, round, options));
    } finally {
      call.open -= 1;
    }
  };
}

function toDecided(collected: Collected): Decided {
  if (collected.kind === 'unanswered') return { kind: 'left', reason: collected.reason };
  const [answer] = collected.answers;
  if (!answer) return { kind: 'left', reason: 'Nothing answers.' };
  const { action, content, by, kind } = answer;
  return {
    kind: 'decided',
    by,
    decision: { action, ...(content && { content }), ...(kind && { source: kind }) },
  };
}

/**
 * For `createClient({ onElicitation })`. A question without an answer, or with one that does not fit, stays open;
 * `onLeft` gets the reason.
 */
export function answerFrom(
  sources: readonly AnswerSource[],
  onLeft: (reason: string, question: ElicitationRequest) => void = () => undefined,
): OnElicitation {
  const decide = decideFrom(sources);
  return async (question, { signal, errors }) => {
    const decided: Decided =
      errors.length === 0
        ? await decide(question, { signal })
        : { kind: 'left', reason: `The service does not take the answer: ${errors[0]?.detail}.` };
    if (decided.kind === 'decided') return decided.decision;
    onLeft(decided.reason, question);
    return undefined;
  };
}

function argumentsIn(shown: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(String(shown));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

// Collecting the answers of a round: no answer passes that does not fit its question.

export interface GivenAnswer extends Answer {
  key: string;
  /** The name of its source. */
  by: string;
  kind?: AnsweredBy;
}

export type Collected =
  | { kind: 'answers'; answers: GivenAnswer[] }
  /** Nothing is sent. `reason` is a sentence that names the question. */
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

/** What a person would send without changing anything. Optional fields that were left out stay out. */
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
