/**
 * A question as a message in the thread: who asks whom and what for, with buttons, and what became of it. Everybody in the
 * channel reads it, so there is no address, no argument and no answer in it. Pure.
 */
import type { KnownBlock } from '@slack/types';
import { isApproval } from '../../elicitation/approval.ts';
import type { ElicitationEvent } from '../../elicitation/elicitation.ts';
import { plainText } from '../../elicitation/plain-text.ts';
import { escapeText } from '../text/mrkdwn.ts';

/** The `action_id`s of its buttons; their value is the question's id, and nothing else. */
export const questionActions = { look: 'question_look', decline: 'question_decline' } as const;

export interface QuestionMessage {
  text: string;
  blocks?: KnownBlock[];
}

/** Of Slack's 3,000 for a section; the asker's words are on the page as well. */
const longestWords = 1_500;

export function questionMessage(question: ElicitationEvent, slackUser: string): QuestionMessage {
  const asker = `*${inline(askerOf(question))}*`;
  if (question.status !== 'pending') return { text: `${asker}: ${settledWords(question)}` };
  const text = `<@${slackUser}> ${asker} asks: ${quoted(question.message)}`;
  const button = (action: string, words: string, style?: 'primary') => ({
    type: 'button' as const,
    action_id: action,
    value: question.elicitationId,
    text: { type: 'plain_text' as const, text: words },
    ...(style && { style }),
  });
  return {
    text,
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } },
      {
        type: 'actions',
        elements: [
          button(questionActions.look, lookWords(question), 'primary'),
          button(questionActions.decline, isApproval(question.context) ? 'Refuse' : 'Not now'),
        ],
      },
    ],
  };
}

export function askerOf({ context }: Pick<ElicitationEvent, 'context'>): string {
  return (
    context.serverTitle ??
    context.server ??
    context.toolTitle ??
    context.toolName ??
    context.agent ??
    'The agent'
  );
}

function lookWords({ context, mode }: ElicitationEvent): string {
  if (isApproval(context)) return 'Look at it';
  if (context.trigger === 'credential_required') return 'Connect';
  return mode === 'url' ? 'Open' : 'Answer';
}

function settledWords({ context, status, mode }: ElicitationEvent): string {
  const isYesOrNo = isApproval(context);
  switch (status) {
    case 'accept':
      if (isYesOrNo) return 'Approved.';
      if (context.trigger === 'credential_required') return 'Connected.';
      return mode === 'url' ? 'Opened.' : 'Answered.';
    case 'decline':
      return isYesOrNo ? 'Refused.' : 'Declined.';
    case 'cancel':
      return 'Dismissed.';
    default:
      return 'Nobody answered in time.';
  }
}

function quoted(message: string): string {
  const words = plainText(message);
  return inline(words.length > longestWords ? `${words.slice(0, longestWords)}…` : words);
}

const inline = (text: string) => escapeText(plainText(text));
