/**
 * Buttons, below a question, in a window or in the app's home. Only the person it was put to gets further than a word that
 * nobody else sees.
 */
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { askedInSlack } from '../../slack/asked.ts';
import { homeActions } from '../../slack/blocks/home-view.ts';
import { noticeModal } from '../../slack/blocks/notice-modal.ts';
import { questionActions } from '../../slack/blocks/question-message.ts';
import { questionModal } from '../../slack/blocks/question-modal.ts';
import { stopAction } from '../../slack/blocks/stop-button.ts';
import { troubleOf } from '../../slack/client.ts';
import type { AnswerQuestion } from '../answer-question.ts';
import { ServiceError } from '../service-error.ts';
import { findAsked, modalPartsOf, refusalWords } from './find-asked.ts';
import type { AskedParts, OwnQuestion } from './find-asked.ts';
import type { SlackLinks } from './links.ts';
import { notify } from './notice.ts';
import { stopInThread, stopWords } from './stop.ts';
import type { StopParts } from './stop.ts';
import { settledSince } from './submissions.ts';

export interface SlackClick {
  action: string;
  /** Whatever the button says. */
  value: string;
  slackUser: string;
  /** Null: in the app's home. */
  channel: string | null;
  threadTs: string | null;
  triggerId: string;
  address: string | null;
}

interface Parts extends AskedParts, StopParts {
  storage: AskedParts['storage'] & StopParts['storage'];
  config: AskedParts['config'] & StopParts['config'];
  links: Pick<SlackLinks, 'linked' | 'offer'>;
  answerQuestion: AnswerQuestion;
  /** What their home shows may have changed. */
  onAnswered(workspace: SlackWorkspace, slackUser: string): void;
}

export type HandleClick = (workspace: SlackWorkspace, click: SlackClick) => Promise<void>;

export function createClicks(parts: Parts): HandleClick {
  return async (workspace, click) => {
    const say = (words: string) => notify(workspace, placeOf(click), words);
    switch (click.action) {
      case questionActions.look:
        return look(parts, workspace, click);
      case questionActions.decline:
        await say(await decline(parts, workspace, click));
        return parts.onAnswered(workspace, click.slackUser);
      case stopAction:
        await say(await stop(parts, workspace, click));
        return;
      case homeActions.link:
        return parts.links.offer(workspace, placeOf(click), true);
      default:
    }
  };
}

function placeOf({ channel, threadTs, slackUser }: SlackClick) {
  return { channel, threadTs, slackUser, isDirect: channel?.startsWith('D') ?? false };
}

async function look(parts: Parts, workspace: SlackWorkspace, click: SlackClick): Promise<void> {
  const { value: elicitationId, triggerId } = click;
  const say = (words: string) => notify(workspace, placeOf(click), words);
  const found = await findAsked(parts, workspace, { ...click, elicitationId });
  if (found.kind !== 'own') return void (await say(refusalWords[found.kind]));
  const { question } = found;
  const modalParts = modalPartsOf(parts.config, found);
  const isOpen = question.status === 'pending';
  const settled = isOpen ? null : await settledSince(parts, question);
  const view = settled === null ? questionModal(modalParts) : noticeModal(settled);
  const isForPage = askedInSlack(modalParts.question).kind === 'page';
  if (isOpen && isForPage) await noteLed(parts, found, click.address);
  try {
    await workspace.client.views.open({ trigger_id: triggerId, view });
  } catch (error) {
    // Too late for Slack, which wants it within three seconds, or more than it shows.
    if (troubleOf(error).kind !== 'refused') throw error;
    if (isOpen && !isForPage) await noteLed(parts, found, click.address);
    await say(settled ?? `You answer it on this page, signed in as yourself: ${modalParts.page}`);
  }
  if (!isOpen) parts.onAnswered(workspace, click.slackUser);
}

/** What becomes of it on its page was then not done elsewhere. */
function noteLed(
  { storage }: AskedParts,
  { question, principal }: OwnQuestion,
  address: string | null,
): Promise<void> {
  return storage.audit.record({
    at: Date.now(),
    tenant: principal.tenant,
    elicitationId: question.id,
    actor: principal.user,
    action: 'opened',
    detail: 'in Slack, on its page',
    address,
  });
}

async function decline(parts: Parts, workspace: SlackWorkspace, click: SlackClick): Promise<string> {
  const { value: elicitationId, address } = click;
  const found = await findAsked(parts, workspace, { ...click, elicitationId });
  if (found.kind !== 'own') return refusalWords[found.kind];
  const { question, principal } = found;
  if (question.status !== 'pending') return settledSince(parts, question);
  try {
    await parts.answerQuestion(principal, {
      elicitationId,
      response: { action: 'decline' },
      address,
      surface: 'slack',
    });
    return 'Noted: not now.';
  } catch (error) {
    if (error instanceof ServiceError) return error.message;
    throw error;
  }
}

async function stop(
  parts: Parts,
  workspace: SlackWorkspace,
  { channel, value: threadTs, slackUser }: SlackClick,
): Promise<string> {
  if (channel === null) return stopWords['not-theirs'];
  const stopped = await stopInThread(parts, workspace, {
    team: workspace.team,
    channel,
    threadTs,
    slackUser,
  });
  return stopWords[stopped];
}
