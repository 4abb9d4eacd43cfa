/**
 * A turn as its Slack thread shows it: texts, questions, and how it ended, in order. A longer log only adds parts, except that
 * void text disappears. Pure.
 */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isOwn, openQuestions } from '../../../turn/fold-turn.ts';
import type { FoldedTurn } from '../../../turn/fold-turn.ts';
import type { TurnEndStatus } from '../../../turn/turn.ts';

export type AnswerPart =
  /** The agent's text between two questions; `subject` counts them. */
  | { kind: 'text'; subject: string; markdown: string }
  | { kind: 'question'; subject: string; question: ElicitationEvent }
  | { kind: 'end'; subject: 'end'; words: string };

export interface Answer {
  parts: AnswerPart[];
  /** `waiting`: for a person. */
  state: 'working' | 'waiting' | 'ended';
  /** The turn is working without writing text. */
  isQuiet: boolean;
}

export function toAnswer(turn: FoldedTurn): Answer {
  let text: AnswerPart & { kind: 'text' } = { kind: 'text', subject: '0', markdown: '' };
  const parts: AnswerPart[] = [text];
  let isQuiet = true;
  for (const item of turn.items) {
    if (item.type === 'text' && isOwn(item)) {
      text.markdown += text.markdown === '' ? item.text : `\n\n${item.text}`;
      if (item.text !== '') isQuiet = item.endedAt !== null;
    } else if (item.type === 'question') {
      const { question } = item;
      parts.push({ kind: 'question', subject: question.elicitationId, question });
      text = { kind: 'text', subject: String(Number(text.subject) + 1), markdown: '' };
      parts.push(text);
    }
  }
  const hasText = parts.some((part) => part.kind === 'text' && part.markdown.trim() !== '');
  const words = turn.end && wordsOf(turn.end.status, { failure: turn.failure?.errorText, hasText });
  if (words) parts.push({ kind: 'end', subject: 'end', words });
  const isAsked = openQuestions(turn).length > 0;
  return { parts, state: turn.end ? 'ended' : isAsked ? 'waiting' : 'working', isQuiet };
}

function wordsOf(
  end: TurnEndStatus,
  { failure, hasText }: { failure: string | undefined; hasText: boolean },
): string | undefined {
  switch (end) {
    case 'completed':
      return hasText ? undefined : 'Done. There is nothing to add.';
    case 'cancelled':
      return 'Stopped.';
    case 'superseded':
      return 'I left this for what you wrote next.';
    case 'failed':
      return failure === undefined
        ? 'I could not begin with this. Send it again.'
        : `I could not finish this: ${failure}`;
    default:
      return end satisfies never;
  }
}
