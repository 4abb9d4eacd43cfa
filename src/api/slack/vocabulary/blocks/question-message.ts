/**
 * A question as a message in the thread: who asks which person for what, with buttons, and its outcome. Everyone in the channel reads
 * it, so it has no URL, no arguments and no answer. Pure.
 */
import type { Button, KnownBlock } from '@slack/types';
import { isApproval } from '@interlude-ai/core/elicitation/approval.ts';
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import { askerTitle, whoAsks } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { SlackWords } from '../words/en.ts';
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
  words: SlackWords,
  question: ElicitationEvent,
  { slackUser, isElsewhere }: { slackUser: string; isElsewhere: boolean },
): QuestionMessage {
  const asker = `*${inline(askerOf(words, question))}*`;
  const agent = agentOf(words, question);
  const by = agent === undefined ? asker : words.forAgent(asker, inline(agent));
  if (question.status !== 'pending') return { text: `${by}: ${settledWords(words, question, isElsewhere)}` };
  const message = quoted(words.ownQuestion(question), longestWords);
  const text = `<@${slackUser}> ${asking(words, question, by)}: ${message}`;
  return {
    text,
    blocks: [marked(text), { type: 'actions', elements: questionButtons(words, question) }],
  };
}

export function questionButtons(
  words: SlackWords,
  question: Pick<ElicitationEvent, 'context' | 'mode' | 'elicitationId'>,
): Button[] {
  const button = (action: string, text: string): Button => ({
    type: 'button',
    action_id: action,
    value: question.elicitationId,
    text: literal(text),
  });
  return [
    { ...button(questionActions.look, buttonWords(words, question)), style: 'primary' },
    button(questionActions.decline, isApproval(question.context) ? words.refuse : words.notNow),
  ];
}

/** The agent that asks, if another agent delegated to it. */
function agentOf(words: SlackWords, { context }: Pick<ElicitationEvent, 'context'>): string | undefined {
  if (context.path === undefined) return undefined;
  const agent = whoAsks(context).at(-1);
  return agent === askerOf(words, { context }) ? undefined : agent;
}

/** In an approval, we ask, not the server. `asker` is marked up. */
export function asking(
  words: SlackWords,
  { context }: Pick<ElicitationEvent, 'context'>,
  asker: string,
): string {
  return isApproval(context) ? asker : words.asks(asker);
}

/** The agent asks, if the tool is our own or the front end's. */
export function askerOf(words: SlackWords, { context }: Pick<ElicitationEvent, 'context'>): string {
  const isOfAgent = context.trigger === 'model_question' || context.trigger === 'frontend_tool';
  const toolName = isOfAgent ? undefined : context.toolName;
  return askerTitle({ ...context, agent: undefined }) ?? toolName ?? context.agent ?? words.theAgent;
}

function buttonWords(
  words: SlackWords,
  { context, mode }: Pick<ElicitationEvent, 'context' | 'mode'>,
): string {
  if (isApproval(context)) return words.review;
  if (context.trigger === 'credential_required') return words.connect;
  return mode === 'url' ? words.open : words.answer;
}

type Settled = Pick<ElicitationEvent, 'context' | 'status' | 'mode' | 'because'>;

export function settledWords(words: SlackWords, settled: Settled, isElsewhere: boolean): string {
  const { because, status } = settled;
  if (because !== undefined) return words.closed[because];
  if (status === 'expired') return words.expired;
  return words.outcomes[outcomeOf(settled)][isElsewhere ? 'elsewhere' : 'here'];
}

function outcomeOf({ context, status, mode }: Settled): keyof SlackWords['outcomes'] {
  const isYesOrNo = isApproval(context);
  switch (status) {
    case 'accept':
      if (isYesOrNo) return 'approved';
      if (context.trigger === 'credential_required') return 'connected';
      return mode === 'url' ? 'opened' : 'answered';
    case 'decline':
      return isYesOrNo ? 'refused' : 'declined';
    default:
      return 'dismissed';
  }
}
