/**
 * A question as a message in the thread: who asks whom and what for, with buttons, and what became of it. Everybody in the
 * channel reads it, so there is no address, no argument and no answer in it. Pure.
 */
import type { Button, KnownBlock } from '@slack/types';
import { isApproval } from '../../elicitation/approval.ts';
import type { ClosedBecause, ElicitationEvent } from '../../elicitation/elicitation.ts';
import { askerTitle, whoAsks } from '../../elicitation/asker.ts';
import { inline, literal, marked, quoted } from './texts.ts';

/** The `action_id`s of its buttons; their value is the question's id, and nothing else. */
export const questionActions = { look: 'question_look', decline: 'question_decline' } as const;

export interface QuestionMessage {
  text: string;
  blocks?: KnownBlock[];
}

/** Of Slack's 3,000 for a section, escapes included; whoever is asked reads all of it. */
const longestWords = 1_500;

/** `isElsewhere`: where it is settled, it was neither here nor on a page that Slack had led to. */
export function questionMessage(
  question: ElicitationEvent,
  { slackUser, isElsewhere }: { slackUser: string; isElsewhere: boolean },
): QuestionMessage {
  const asker = `*${inline(askerOf(question))}*`;
  if (question.status !== 'pending')
    return { text: `${asker}${forWhom(question)}: ${settledWords(question, isElsewhere)}` };
  const text = `<@${slackUser}> ${asker}${forWhom(question)}${asks(question)}: ${quoted(question.message, longestWords)}`;
  return {
    text,
    blocks: [marked(text), { type: 'actions', elements: questionButtons(question) }],
  };
}

export function questionButtons(
  question: Pick<ElicitationEvent, 'context' | 'mode' | 'elicitationId'>,
): Button[] {
  const button = (action: string, words: string): Button => ({
    type: 'button',
    action_id: action,
    value: question.elicitationId,
    text: literal(words),
  });
  return [
    { ...button(questionActions.look, lookWords(question)), style: 'primary' },
    button(questionActions.decline, isApproval(question.context) ? 'Refuse' : 'Not now'),
  ];
}

/** The agent at work, where another one has handed it the task. */
function forWhom({ context }: Pick<ElicitationEvent, 'context'>): string {
  if (context.path === undefined) return '';
  const agent = whoAsks(context).at(-1);
  return agent === undefined || agent === askerOf({ context }) ? '' : ` (for ${inline(agent)})`;
}

/** A server whose tool is to be approved asks nothing: the question is ours. */
export function asks({ context }: Pick<ElicitationEvent, 'context'>): string {
  return isApproval(context) ? '' : ' asks';
}

/** A tool without a title is called by its name; that of a model's own question is ours, and says nothing to people. */
export function askerOf({ context }: Pick<ElicitationEvent, 'context'>): string {
  const toolName = context.trigger === 'model_question' ? undefined : context.toolName;
  return askerTitle({ ...context, agent: undefined }) ?? toolName ?? context.agent ?? 'The agent';
}

function lookWords({ context, mode }: Pick<ElicitationEvent, 'context' | 'mode'>): string {
  if (isApproval(context)) return 'Review';
  if (context.trigger === 'credential_required') return 'Connect';
  return mode === 'url' ? 'Open' : 'Answer';
}

type Settled = Pick<ElicitationEvent, 'context' | 'status' | 'mode' | 'because'>;

export function settledWords(settled: Settled, isElsewhere: boolean): string {
  const { because, status } = settled;
  if (because !== undefined) return goneWords[because];
  if (status === 'expired') return 'Nobody answered in time.';
  return `${deedOf(settled)}${isElsewhere ? ' elsewhere' : ''}.`;
}

const goneWords = {
  server_gave_up: 'Whoever asked did not wait this long.',
  server_gone: 'Whoever asked is gone.',
} satisfies Record<ClosedBecause, string>;

function deedOf({ context, status, mode }: Settled): string {
  const isYesOrNo = isApproval(context);
  switch (status) {
    case 'accept':
      if (isYesOrNo) return 'Approved';
      if (context.trigger === 'credential_required') return 'Connected';
      return mode === 'url' ? 'Opened' : 'Answered';
    case 'decline':
      return isYesOrNo ? 'Refused' : 'Declined';
    default:
      return 'Dismissed';
  }
}
