/** What clients stumble over in all that a server said during one call. Pure. */
import { isRecord } from '../../elicitation/form/schema-keywords.ts';
import type { Era } from '../../testing/call/read-answer.ts';
import { inspectQuestion, questionsIn } from './inspect-question.ts';
import type { RawQuestion } from './inspect-question.ts';
import type { Seen } from './rules.ts';

export interface Heard {
  questions: RawQuestion[];
  /** Of pages that the server says are done (2025-11-25). */
  completed: string[];
  seen: Seen[];
}

export function hearCall(messages: readonly Record<string, unknown>[], era: Era): Heard {
  const questions = messages.flatMap(questionsIn);
  const completed = messages
    .filter(({ method }) => method === 'notifications/elicitation/complete')
    .map(({ params }) => String(isRecord(params) ? params['elicitationId'] : ''));
  return {
    questions,
    completed,
    seen: [
      ...questions.flatMap((question) => inspectQuestion(question, era)),
      ...completions(questions, completed, era),
      ...results(messages, era),
    ],
  };
}

function completions(questions: readonly RawQuestion[], completed: readonly string[], era: Era): Seen[] {
  if (completed.length === 0) return [];
  if (era === 'modern')
    return [
      { rule: 'wrong-era', message: 'It sent notifications/elicitation/complete to a client of 2026-07-28.' },
    ];
  const asked = new Set(questions.map(({ params }) => params['elicitationId']));
  const isUnknown = completed.some((id) => !asked.has(id));
  return isUnknown
    ? [{ rule: 'unknown-completion', message: 'It said that a page is done for which it did not ask.' }]
    : [];
}

function results(messages: readonly Record<string, unknown>[], era: Era): Seen[] {
  const isNew = messages.some(({ result }) => isRecord(result) && result['resultType'] !== undefined);
  return era === 'legacy' && isNew
    ? [{ rule: 'wrong-era', message: 'It sent a resultType to a client of the old era.' }]
    : [];
}
