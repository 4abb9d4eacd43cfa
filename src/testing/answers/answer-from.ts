/** Sources of answers for the questions of a running service, as a handler of its client. */
import type { Decision, OnElicitation } from '../../client/answer-questions.ts';
import type { ElicitationRequest } from '../../contract/elicitation.ts';
import { collectAnswers } from './collect-answers.ts';
import type { Collected } from './collect-answers.ts';
import { toQuestion } from './source.ts';
import type { AnswerSource } from './source.ts';

export type Decided =
  | { kind: 'decided'; decision: Decision; by: string }
  /** Nothing must be sent. `reason` is a sentence that names the question. */
  | { kind: 'left'; reason: string };

export type Decide = (question: ElicitationRequest, options: { signal: AbortSignal }) => Promise<Decided>;

/**
 * Asks the sources in their order. Questions of one call that were opened together, or are decided side by side, are one round
 * of it. Only an approval shows its arguments; `arguments` is empty otherwise.
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
 * For `createClient({ onElicitation })`. A question that no source answers, or that one answers in a way that does not fit,
 * is left open; `onLeft` is told why.
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
