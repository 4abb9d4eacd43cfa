/**
 * A turn as its Slack thread shows it, folded from the turn's log: texts, questions, and how it ended, in order. A longer log
 * only adds parts, except that void text disappears. Pure.
 */
import type { ElicitationEvent } from '../elicitation/elicitation.ts';
import type { LogEntry } from '../turn/event.ts';
import type { TurnEndStatus } from '../turn/turn.ts';
import { withoutVoidText } from '../turn/event.ts';

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

export function toAnswer(entries: LogEntry[]): Answer {
  let text: AnswerPart & { kind: 'text' } = { kind: 'text', subject: '0', markdown: '' };
  const parts: AnswerPart[] = [text];
  const questions = new Map<string, AnswerPart & { kind: 'question' }>();
  let failure: string | undefined;
  let end: TurnEndStatus | undefined;
  let isQuiet = true;
  for (const { event } of withoutVoidText(entries)) {
    const isOwn = event.path === undefined && event.parentToolCallId === undefined;
    switch (event.type) {
      case 'text-start':
        if (isOwn && text.markdown !== '') text.markdown += '\n\n';
        break;
      case 'text-delta':
        if (!isOwn) break;
        text.markdown += event.delta;
        isQuiet = false;
        break;
      case 'finish-step':
      case 'tool-input-available':
        isQuiet = true;
        break;
      case 'elicitation-request': {
        const known = questions.get(event.elicitationId);
        if (known) {
          known.question = event;
          break;
        }
        const part = { kind: 'question' as const, subject: event.elicitationId, question: event };
        questions.set(event.elicitationId, part);
        text = { kind: 'text', subject: String(questions.size), markdown: '' };
        parts.push(part, text);
        break;
      }
      case 'error':
        if (isOwn) failure = event.errorText;
        break;
      case 'turn-ended':
        end = event.status;
        break;
      default:
        break;
    }
  }
  const hasText = parts.some((part) => part.kind === 'text' && part.markdown.trim() !== '');
  const words = end && wordsOf(end, { failure, hasText });
  if (words !== undefined) parts.push({ kind: 'end', subject: 'end', words });
  const isAsked = [...questions.values()].some(({ question }) => question.status === 'pending');
  return { parts, state: end ? 'ended' : isAsked ? 'waiting' : 'working', isQuiet };
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
