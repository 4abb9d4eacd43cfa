/**
 * A turn as its Slack thread shows it: texts, questions, and how it ended, in order. A longer log only adds parts, except that
 * void text disappears. Pure.
 */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { isOwn, openQuestions } from '../../../turn/fold-turn.ts';
import type { FoldedTurn } from '../../../turn/fold-turn.ts';
import type { TurnEndStatus } from '../../../turn/turn.ts';
import type { SlackWords } from './words.ts';

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

export function toAnswer(turn: FoldedTurn, words: SlackWords): Answer {
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
  const end = turn.end && endInWords(words, turn.end.status, { failure: turn.failure, hasText });
  if (end) parts.push({ kind: 'end', subject: 'end', words: end });
  const isAsked = openQuestions(turn).length > 0;
  return { parts, state: turn.end ? 'ended' : isAsked ? 'waiting' : 'working', isQuiet };
}

function endInWords(
  words: SlackWords,
  end: TurnEndStatus,
  { failure, hasText }: { failure: FoldedTurn['failure']; hasText: boolean },
): string | undefined {
  switch (end) {
    case 'completed':
      return hasText ? undefined : words.nothingToAdd;
    case 'cancelled':
      return words.stopped;
    case 'superseded':
      return words.superseded;
    case 'failed':
      if (!failure) return words.notBegun;
      return words.notFinished(failure.failure ? words.turnFailure(failure.failure) : failure.errorText);
    default:
      return end satisfies never;
  }
}
