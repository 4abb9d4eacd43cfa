/**
 * A question as a message in the thread: who asks which person for what, with buttons, and its outcome. Everyone in the channel reads
 * it, so it has no URL, no arguments and no answer. Pure.
 */
import type { Button, KnownBlock } from '@slack/types';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import type { ClosedBecause, ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { askerTitle, whoAsks } from '@interlude-ai/core/elicitation/elicitation.ts';
import { inline, literal, marked, quoted } from './texts.ts';

/** The `action_id`s of the buttons. Their value is the question's id. */
export const questionActions = { look: 'question_look', decline: 'question_decline' } as const;

interface QuestionMessage {
  text: string;
  blocks?: KnownBlock[];
}

/** Of Slack's 3,000 for a section, escapes included. The window shows all of it. */
const longestWords = 1_500;

/** `isElsewhere`: it was settled neither in Slack nor on a page opened from Slack. */
export function questionMessage(
  question: ElicitationEvent,
  { slackUser, isElsewhere }: { slackUser: string; isElsewhere: boolean },
): QuestionMessage {
  const asker = `*${inline(askerOf(question))}*`;
  if (question.status !== 'pending')
    return { text: `${asker}${forAgent(question)}: ${settledWords(question, isElsewhere)}` };
  const text = `<@${slackUser}> ${asker}${forAgent(question)}${asks(question)}: ${quoted(question.message, longestWords)}`;
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
    { ...button(questionActions.look, buttonWords(question)), style: 'primary' },
    button(questionActions.decline, isApproval(question.context) ? 'Refuse' : 'Not now'),
  ];
}

/** The agent that asks, if another agent delegated to it. */
function forAgent({ context }: Pick<ElicitationEvent, 'context'>): string {
  if (context.path === undefined) return '';
  const agent = whoAsks(context).at(-1);
  return agent === undefined || agent === askerOf({ context }) ? '' : ` (for ${inline(agent)})`;
}

/** In an approval, we ask, not the server. */
export function asks({ context }: Pick<ElicitationEvent, 'context'>): string {
  return isApproval(context) ? '' : ' asks';
}

/** The tool of a model's own question is ours, and its name tells people nothing. */
export function askerOf({ context }: Pick<ElicitationEvent, 'context'>): string {
  const toolName = context.trigger === 'model_question' ? undefined : context.toolName;
  return askerTitle({ ...context, agent: undefined }) ?? toolName ?? context.agent ?? 'The agent';
}

function buttonWords({ context, mode }: Pick<ElicitationEvent, 'context' | 'mode'>): string {
  if (isApproval(context)) return 'Review';
  if (context.trigger === 'credential_required') return 'Connect';
  return mode === 'url' ? 'Open' : 'Answer';
}

type Settled = Pick<ElicitationEvent, 'context' | 'status' | 'mode' | 'because'>;

export function settledWords(settled: Settled, isElsewhere: boolean): string {
  const { because, status } = settled;
  if (because !== undefined) return closedWords[because];
  if (status === 'expired') return 'Nobody answered in time.';
  return `${outcomeWords(settled)}${isElsewhere ? ' elsewhere' : ''}.`;
}

const closedWords = {
  server_gave_up: 'Whoever asked did not wait this long.',
  server_gone: 'Whoever asked is gone.',
} satisfies Record<ClosedBecause, string>;

function outcomeWords({ context, status, mode }: Settled): string {
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
