/** A message in Slack becomes a turn of whoever wrote it, in the conversation that they have in its thread. */
import { rateLimitKey } from '../../service/principal.ts';
import type { UserPrincipal } from '../../service/principal.ts';
import { patienceMs } from '../../service/slack/inbox.ts';
import type { Handled, InboxEvent } from '../../service/slack/inbox.ts';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import type { SlackThread } from '../../service/slack/threads.ts';
import { withStopButton } from '../../slack/blocks/stop-button.ts';
import { mentionsIn, plainText } from '../../slack/message-text.ts';
import { readMessage } from '../../slack/read-event.ts';
import type { SlackMessage } from '../../slack/read-event.ts';
import { profileOf } from '../../slack/profile.ts';
import type { SlackContext } from './context.ts';
import { notify } from './notice.ts';
import { offerLink } from './offer-link.ts';
import { refusalOf, strangerWords } from './refusals.ts';
import type { Refusal } from './refusals.ts';
import { createStartLimit } from './start-limit.ts';

const done: Handled = { kind: 'done' };
/** Names are looked up for so many of those that a message mentions. */
const mostNames = 5;
const firstBusyPauseMs = 250;
const busyPauseMs = 15_000;
/** After some seconds: until then, most turns are over. */
const saidAtTry = 5;
const limitPauseMs = 5_000;

export type HandleMessage = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createMessageHandler(context: SlackContext): HandleMessage {
  const { slack, http } = context;
  const mayStart = createStartLimit(http.rateLimitPerMinute);
  return async (work, workspace) => {
    const message = readMessage(work.event, workspace.botUser);
    if (!message) return done;
    const { team, tenant } = workspace;
    const { channel, threadTs, slackUser, isDirect, isMention } = message;
    const known = await slack.threads.find({ team, channel, threadTs, slackUser });
    // What people say to each other is none of ours, also in a thread where we answer somebody else.
    if (!isDirect && !isMention && !known) {
      // Unless they have mentioned us here, and are about to say who they are.
      return (await slack.inbox.waitsInLane(work)) ? { kind: 'parked' } : done;
    }
    const principal = await slack.links.principalOf({ team, slackUser }, tenant);
    if (!principal) return introduce(context, workspace, message, { again: work.tries > 1 });

    if (!mayStart(rateLimitKey(principal))) return { kind: 'later', ms: limitPauseMs };
    const text = await textOf(message, workspace);
    if (text === '') {
      await notify(workspace, message, 'What can I do for you? Write it after my name, or in this thread.');
      return done;
    }
    const thread = known ?? (await slack.threads.begin({ team, channel, threadTs, slackUser }, tenant));
    return startTurn(context, { work, workspace, message, thread, principal, text });
  };
}

/** To whom we do not know: a link, or why there is none. */
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
      await notify(workspace, message, strangerWords[kind]);
      return done;
    case 'bot':
    case 'gone':
      return done;
    default:
      return kind satisfies never;
  }
}

/** What was said, and what came along, which the agent cannot open. */
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
  // The place of a message is its name: however often it comes, and as whichever event, it is one.
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
    return refused(context, wanted, refusalOf(error));
  }
}

export const busyWords = 'I am still at work on what you wrote before; this comes next.';

/** One message at a time: the next one waits until the agent has answered. What cannot be is said once. */
async function refused({ logger }: SlackContext, wanted: Wanted, refusal: Refusal): Promise<Handled> {
  const { work, workspace, message } = wanted;
  const { kind, code, words } = refusal;
  const isTooOld = Date.now() - work.receivedAt > patienceMs;
  if ((kind === 'busy' || kind === 'away') && !isTooOld) {
    if (kind === 'busy' && work.tries === saidAtTry)
      await notify(workspace, message, busyWords, withStopButton(busyWords, message.threadTs));
    return { kind: 'later', ms: Math.min(firstBusyPauseMs * 2 ** (work.tries - 1), busyPauseMs) };
  }
  logger.warn({ team: work.team, eventId: work.eventId, code }, 'a message in Slack could not start a turn');
  await notify(workspace, message, `I could not take this: ${words}`);
  return done;
}
