/** A message in Slack starts a turn for the person who wrote it, in their conversation in that thread. */
import type { UserPrincipal } from '../../service/principal.ts';
import { patienceMs } from '../../service/slack/inbox.ts';
import type { Handled, InboxEvent } from '../../service/slack/inbox.ts';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { SlackThread } from '../../service/slack/threads.ts';
import { withStopButton } from './vocabulary/blocks/texts.ts';
import { mentionsIn, plainText, readMessage } from './read-event.ts';
import type { SlackMessage } from './read-event.ts';
import { profileOf } from '../../remote/slack.ts';
import type { SlackWords } from './vocabulary/words.ts';
import { wordsFor } from './context.ts';
import type { SlackContext } from './context.ts';
import { notify, offerLink } from './notice.ts';
import { refusalOf } from './refusals.ts';
import type { Refusal } from './refusals.ts';

const done: Handled = { kind: 'done' };
/** Look up the names of at most this many mentioned people. */
const mostNames = 5;
const firstBusyPauseMs = 250;
const busyPauseMs = 15_000;
/** Say that we are busy at this try, after some seconds: most turns are over by then. */
const busyNoticeAtTry = 5;
const limitPauseMs = 5_000;

export function createMessageHandler(
  context: SlackContext,
): (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled> {
  const { slack, service } = context;
  return async (work, workspace) => {
    const message = readMessage(work.event, workspace.botUser);
    if (!message) return done;
    const { team, tenant } = workspace;
    const { channel, threadTs, slackUser, isDirect, isMention } = message;
    const known = await slack.threads.find({ team, channel, threadTs, slackUser });
    // In a channel, react only to mentions and to people whom we already answer in this thread.
    if (!isDirect && !isMention && !known) {
      // If the person has mentioned us and not signed in yet, the message waits for that.
      return (await slack.inbox.waitsInLane(work)) ? { kind: 'parked' } : done;
    }
    const principal = await slack.links.principalOf({ team, slackUser }, tenant);
    if (!principal) return introduce(context, workspace, message, { again: work.tries > 1 });

    if (service.limits.request(principal)) return { kind: 'later', ms: limitPauseMs };
    const text = await textOf(message, workspace);
    if (text === '') {
      await notify(workspace, message, (await wordsFor(workspace, slackUser)).whatCanIDo);
      return done;
    }
    const thread = known ?? (await slack.threads.begin({ team, channel, threadTs, slackUser }, tenant));
    return startTurn(context, { work, workspace, message, thread, principal, text });
  };
}

/** Sends an unknown person a sign-in link, or says why they get none. */
async function introduce(
  context: SlackContext,
  workspace: SlackWorkspace,
  message: SlackMessage,
  again: { again: boolean },
): Promise<Handled> {
  const { kind } = await profileOf(workspace, message.slackUser);
  switch (kind) {
    case 'member':
      await offerLink(context, workspace, message, again);
      return { kind: 'parked' };
    case 'guest':
    case 'external':
      await notify(workspace, message, (await wordsFor(workspace, message.slackUser)).strangers[kind]);
      return done;
    case 'bot':
    case 'gone':
      return done;
    default:
      return kind satisfies never;
  }
}

/** The message, forwarded messages, and the names of attached files, which the agent cannot read. */
async function textOf({ text, files, forwarded }: SlackMessage, workspace: SlackWorkspace): Promise<string> {
  const names = new Map<string, string>();
  const mentioned = mentionsIn([text, ...forwarded.map((one) => one.text)].join(' ')).filter(
    (id) => id !== workspace.botUser,
  );
  for (const id of mentioned.slice(0, mostNames)) names.set(id, (await profileOf(workspace, id)).name);
  const read = (words: string) => plainText(words, { botUser: workspace.botUser, names });
  const quotes = forwarded.map(({ author, text: words }) => {
    const lines = read(words).split('\n');
    return [
      `(Forwarded in Slack${author === null ? '' : `, written by ${author}`})`,
      ...lines.map((line) => `> ${line}`),
    ].join('\n');
  });
  const attached =
    files.length === 0 ? [] : [`(Attached in Slack, and not readable here: ${files.join(', ')})`];
  return [read(text), ...quotes, ...attached].filter((part) => part !== '').join('\n\n');
}

interface Wanted {
  work: InboxEvent;
  workspace: SlackWorkspace;
  message: SlackMessage;
  thread: SlackThread;
  principal: UserPrincipal;
  text: string;
}

async function startTurn(context: SlackContext, wanted: Wanted): Promise<Handled> {
  const { message, thread, principal, text } = wanted;
  const { team, channel, threadTs, slackUser, conversation, agent } = thread;
  // The place of a message is its id, so that repeated and duplicate events start one turn.
  const id = `slack:${team}:${channel}:${message.ts}`;
  try {
    const turn = await context.service.startTurn(principal, {
      conversation,
      messages: [{ id, role: 'user', content: [{ type: 'text', text }] }],
      agent,
      capabilities: { url: true, form: true },
      onBusy: 'refuse',
      repetition: { kind: 'unnamed' },
    });
    await context.slack.deliver({ turn, team, channel, threadTs, slackUser });
    return done;
  } catch (error) {
    const words = await wordsFor(wanted.workspace, slackUser);
    return refused(context, wanted, words, refusalOf(error, words));
  }
}

/** A message waits while an earlier turn runs. Other refusals are shown to the person. */
async function refused(
  { logger }: SlackContext,
  wanted: Wanted,
  words: SlackWords,
  refusal: Refusal,
): Promise<Handled> {
  const { work, workspace, message } = wanted;
  const { kind, code, words: why } = refusal;
  const isTooOld = Date.now() - work.receivedAt > patienceMs;
  if ((kind === 'busy' || kind === 'away') && !isTooOld) {
    if (kind === 'busy' && work.tries === busyNoticeAtTry)
      await notify(workspace, message, words.busy, withStopButton(words, words.busy, message.threadTs));
    return { kind: 'later', ms: Math.min(firstBusyPauseMs * 2 ** (work.tries - 1), busyPauseMs) };
  }
  logger.warn({ team: work.team, eventId: work.eventId, code }, 'a message in Slack could not start a turn');
  await notify(workspace, message, words.notTaken(why));
  return done;
}
