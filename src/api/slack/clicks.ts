/** Buttons: below a question, in a window, or in the app's home. Everyone but the person who was asked gets a private refusal. */
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { askedInSlack, noticeModal, questionModal } from './blocks/modals.ts';
import { homeActions } from './blocks/home-view.ts';
import { questionActions } from './vocabulary/blocks/question-message.ts';
import { stopAction } from './vocabulary/blocks/texts.ts';
import { troubleOf } from '../../remote/slack.ts';
import { modalPartsOf, settledSince, wordsFor } from './context.ts';
import type { SlackContext } from './context.ts';
import { notify, offerLink } from './notice.ts';
import { refusalOf } from './refusals.ts';

export interface SlackClick {
  action: string;
  /** The button's value. */
  value: string;
  slackUser: string;
  /** Null: in the app's home. */
  channel: string | null;
  threadTs: string | null;
  triggerId: string;
  address: string | null;
}

/** `onAnswered`: what the person's home shows may have changed. */
export interface InteractionParts extends SlackContext {
  onAnswered(workspace: SlackWorkspace, slackUser: string): void;
}

export async function handleClick(
  parts: InteractionParts,
  workspace: SlackWorkspace,
  click: SlackClick,
): Promise<void> {
  const say = (text: string) => notify(workspace, placeOf(click), text);
  switch (click.action) {
    case questionActions.look:
      return openQuestion(parts, workspace, click);
    case questionActions.decline:
      await say(await decline(parts, workspace, click));
      return parts.onAnswered(workspace, click.slackUser);
    case stopAction:
      await say(await stop(parts, workspace, click));
      return;
    case homeActions.link:
      return offerLink(parts, workspace, placeOf(click), { again: true });
    default:
  }
}

function placeOf({ channel, threadTs, slackUser }: SlackClick) {
  return { channel, threadTs, slackUser, isDirect: channel?.startsWith('D') ?? false };
}

async function openQuestion(
  parts: InteractionParts,
  workspace: SlackWorkspace,
  click: SlackClick,
): Promise<void> {
  const { value: elicitationId, triggerId } = click;
  const words = await wordsFor(workspace, click.slackUser);
  const say = (text: string) => notify(workspace, placeOf(click), text);
  const found = await parts.slack.questions.find(workspace, { ...click, elicitationId });
  if (found.kind !== 'own') return void (await say(words.notShown[found.kind]));
  const { question } = found;
  const modalParts = modalPartsOf(words, parts, found);
  const isOpen = question.status === 'pending';
  const settled = isOpen ? null : await settledSince(words, parts.slack, question);
  const view = settled === null ? questionModal(modalParts) : noticeModal(words, settled);
  const isForPage = askedInSlack(modalParts.question).kind === 'page';
  if (isOpen && isForPage) await parts.slack.questions.recordPageOpenedFromSlack(found, click.address);
  try {
    await workspace.client.views.open({ trigger_id: triggerId, view });
  } catch (error) {
    // Slack refuses windows that come after three seconds or are too large.
    if (troubleOf(error).kind !== 'refused') throw error;
    if (isOpen && !isForPage) await parts.slack.questions.recordPageOpenedFromSlack(found, click.address);
    await say(settled ?? `${words.answerOnPage} ${modalParts.page}`);
  }
  if (!isOpen) parts.onAnswered(workspace, click.slackUser);
}

async function decline(
  parts: InteractionParts,
  workspace: SlackWorkspace,
  click: SlackClick,
): Promise<string> {
  const { value: elicitationId, address } = click;
  const words = await wordsFor(workspace, click.slackUser);
  const found = await parts.slack.questions.find(workspace, { ...click, elicitationId });
  if (found.kind !== 'own') return words.notShown[found.kind];
  const { question, principal } = found;
  if (question.status !== 'pending') return settledSince(words, parts.slack, question);
  try {
    await parts.service.answerQuestion(principal, {
      elicitationId,
      response: { action: 'decline' },
      address,
      surface: 'slack',
    });
    return words.noted;
  } catch (error) {
    return refusalOf(error, words).words;
  }
}

async function stop(
  { slack }: InteractionParts,
  workspace: SlackWorkspace,
  { channel, value: threadTs, slackUser }: SlackClick,
): Promise<string> {
  const { team, tenant } = workspace;
  const { stops } = await wordsFor(workspace, slackUser);
  if (channel === null) return stops['not-theirs'];
  return stops[await slack.stop.inThread(tenant, { team, channel, threadTs, slackUser })];
}
