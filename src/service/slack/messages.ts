/** A message in Slack becomes a turn of whoever wrote it, in the conversation that they have in its thread. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import { withStopButton } from '../../slack/blocks/stop-button.ts';
import { mentionsIn, plainText } from '../../slack/message-text.ts';
import { readMessage } from '../../slack/read-event.ts';
import type { SlackMessage } from '../../slack/read-event.ts';
import type { SlackThread } from '../../storage/ports/slack.ts';
import type { NewSlackDelivery } from '../../storage/ports/slack-deliveries.ts';
import type { Storage } from '../../storage/storage.ts';
import type { OwnTurn } from '../own-turn.ts';
import type { Principal, UserPrincipal } from '../principal.ts';
import { ServiceError } from '../service-error.ts';
import type { TurnRequest } from '../turn-request.ts';
import { patienceMs } from './inbox.ts';
import type { Handled, InboxEvent } from './inbox.ts';
import type { SlackLinks } from './links.ts';
import { notify } from './notice.ts';
import { profileOf } from './who.ts';

interface Parts {
  storage: Pick<Storage, 'slack'>;
  config: Pick<Config, 'agents'>;
  links: Pick<SlackLinks, 'offer' | 'linked'>;
  startTurn(principal: Principal, request: TurnRequest): Promise<OwnTurn>;
  /** Again is a no-op. */
  deliver(delivery: NewSlackDelivery): Promise<void>;
  /** Whether this user may start another turn now. */
  mayStart(principal: UserPrincipal): boolean;
  logger: Logger;
}

const done: Handled = { kind: 'done' };
/** Names are looked up for so many of those that a message mentions. */
const mostNames = 5;
const firstBusyPauseMs = 250;
const busyPauseMs = 15_000;
/** After some seconds: until then, most turns are over. */
const saidAtTry = 5;
const limitPauseMs = 5_000;

export type HandleMessage = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createMessageHandler(parts: Parts): HandleMessage {
  return async (work, workspace) => {
    const message = readMessage(work.event, workspace.botUser);
    if (!message) return done;
    const { threads, events } = parts.storage.slack;
    const { team } = workspace;
    const { channel, threadTs, slackUser, isDirect, isMention } = message;
    const known = await threads.get({ team, channel, threadTs, slackUser });
    // What people say to each other is none of ours, also in a thread where we answer somebody else.
    if (!isDirect && !isMention && !known) {
      // Unless they have mentioned us here, and are about to say who they are.
      return (await events.waitsInLane(work)) ? { kind: 'parked' } : done;
    }
    const person = await parts.links.linked({ team, slackUser });
    if (person?.tenant !== workspace.tenant) return introduce(parts, workspace, message, work.tries > 1);

    const principal: UserPrincipal = { kind: 'user', tenant: person.tenant, user: person.user };
    if (!parts.mayStart(principal)) return { kind: 'later', ms: limitPauseMs };
    const text = await textOf(message, workspace);
    if (text === '') {
      await notify(workspace, message, 'What can I do for you? Write it after my name, or in this thread.');
      return done;
    }
    const thread = known ?? (await begin(parts, workspace, message));
    return startTurn(parts, { work, workspace, message, thread, principal, text });
  };
}

/** To whom we do not know: a link, or why there is none. */
async function introduce(
  { links }: Parts,
  workspace: SlackWorkspace,
  message: SlackMessage,
  again: boolean,
): Promise<Handled> {
  const { kind } = await profileOf(workspace, message.slackUser);
  switch (kind) {
    case 'member':
      await links.offer(workspace, message, again);
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

export const strangerWords = {
  guest:
    'I answer members of this workspace. If you have an account of your own with us, connect it with `/interlude link`, then ask again.',
  external:
    'I answer members of this workspace only. Somebody who looks after it can send you a link with `/interlude link @you`.',
};

/** What was said, and what came along, which the agent cannot open. */
async function textOf({ text, files }: SlackMessage, workspace: SlackWorkspace): Promise<string> {
  const names = new Map<string, string>();
  const mentioned = mentionsIn(text).filter((id) => id !== workspace.botUser);
  for (const id of mentioned.slice(0, mostNames)) names.set(id, (await profileOf(workspace, id)).name);
  const said = plainText(text, { botUser: workspace.botUser, names });
  if (files.length === 0) return said;
  return `${said}\n\n(Attached in Slack, and not readable here: ${files.join(', ')})`.trim();
}

async function begin(
  { storage, config }: Parts,
  { team, tenant }: SlackWorkspace,
  { channel, threadTs, slackUser }: SlackMessage,
): Promise<SlackThread> {
  const { threads } = storage.slack;
  const chosen = await threads.agentOf(team, channel);
  const [first = ''] = config.agents.keys();
  // An agent that has left the file since answers nobody.
  const agent = chosen !== null && config.agents.has(chosen) ? chosen : first;
  const conversation = randomUUID();
  return threads.begin({ team, channel, threadTs, slackUser, tenant, conversation, agent });
}

interface Wanted {
  work: InboxEvent;
  workspace: SlackWorkspace;
  message: SlackMessage;
  thread: SlackThread;
  principal: UserPrincipal;
  text: string;
}

async function startTurn(parts: Parts, wanted: Wanted): Promise<Handled> {
  const { message, thread, principal, text } = wanted;
  const { team, channel, threadTs, slackUser, conversation, agent } = thread;
  // The place of a message is its name: however often it comes, and as whichever event, it is one.
  const id = `slack:${team}:${channel}:${message.ts}`;
  try {
    const turn = await parts.startTurn(principal, {
      conversation,
      messages: [{ id, role: 'user', content: [{ type: 'text', text }] }],
      agent,
      capabilities: { url: true, form: true },
      onBusy: 'refuse',
      repetition: { kind: 'unnamed' },
    });
    await parts.deliver({ turn, team, channel, threadTs, slackUser });
    return done;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return refused(parts, wanted, error);
  }
}

export const busyWords = 'I am still at work on what you wrote before; this comes next.';

/** One message at a time: the next one waits until the agent has answered. What cannot be is said once. */
async function refused({ logger }: Parts, wanted: Wanted, error: ServiceError): Promise<Handled> {
  const { work, workspace, message } = wanted;
  const { code } = error;
  const isTooOld = Date.now() - work.receivedAt > patienceMs;
  if ((code === 'turn_in_progress' || code === 'unavailable') && !isTooOld) {
    if (code === 'turn_in_progress' && work.tries === saidAtTry)
      await notify(workspace, message, busyWords, withStopButton(busyWords, message.threadTs));
    return { kind: 'later', ms: Math.min(firstBusyPauseMs * 2 ** (work.tries - 1), busyPauseMs) };
  }
  logger.warn({ team: work.team, eventId: work.eventId, code }, 'a message in Slack could not start a turn');
  await notify(workspace, message, `I could not take this: ${error.message}`);
  return done;
}
