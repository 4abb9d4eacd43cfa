/** The Slack app: takes events, commands and interactions of the workspaces that have installed it. */
import { z } from 'zod';
import type { SlackConfig } from '../../platform/config/config.ts';
import type { Handled, InboxEvent } from '../../service/slack/inbox.ts';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { readMessage } from './read-event.ts';
import type { SlackEventBody } from './read-event.ts';
import { wordsFor } from './context.ts';
import type { SlackContext } from './context.ts';
import { createInteractivity } from './interactions.ts';
import type { SlackInteractivity } from './interactions.ts';
import { createMessageHandler } from './messages.ts';
import { runCommand } from './commands.ts';
import type { SlackCommand } from './commands.ts';
import { publishHome } from './home.ts';
import { notify } from './notice.ts';

export interface SlackApp {
  settings: SlackConfig;
  /** Resolves when the event is stored. Rejects if Slack should send it again. */
  receive(event: { team: string; eventId: string; event: SlackEventBody }): Promise<Received>;
  /** Null: the workspace has not installed the app. */
  runCommand(team: string, command: SlackCommand): Promise<string | null>;
  interactivity: Pick<SlackInteractivity, 'click' | 'submit'>;
  /** Starts to process stored events. */
  start(): void;
  /** Resolves when no interaction is being handled. */
  idle(): Promise<void>;
}

/** `foreign`: the workspace has not installed the app. `early`: the installations are not loaded yet. */
export type Received = 'kept' | 'ignored' | 'foreign' | 'early';

type HandleEvent = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createSlackApp(context: SlackContext): SlackApp {
  const { settings, workspaces, installs, inbox } = context.slack;
  const interactivity = createInteractivity(context);
  const message = createMessageHandler(context);
  const checkInstallation: HandleEvent = async (_work, workspace) => {
    await installs.check(workspace);
    return { kind: 'done' };
  };
  /** By type of event. Others are not stored. */
  const handlers = new Map<string, HandleEvent>([
    ['message', message],
    ['app_mention', message],
    ['app_home_opened', (work, workspace) => homeOpened(context, work, workspace)],
    ['agent_session_stopped', (work, workspace) => sessionStopped(context, work, workspace)],
    ['app_uninstalled', checkInstallation],
    ['tokens_revoked', checkInstallation],
  ]);

  async function handle(work: InboxEvent): Promise<Handled> {
    const workspace = await workspaces.of(work.team);
    const handler = handlers.get(work.event.type);
    return workspace && handler ? handler(work, workspace) : { kind: 'done' };
  }

  return {
    settings,
    async receive({ team, eventId, event }) {
      if (!handlers.has(event.type)) return 'ignored';
      const botUser = await installs.botUserOf(team);
      if (botUser === null) return installs.isReady() ? 'foreign' : 'early';
      const about = inboxEntryOf(event, eventId, botUser);
      if (!about) return 'ignored';
      await inbox.receive({ team, event, ...about });
      return 'kept';
    },
    async runCommand(team, command) {
      const workspace = await workspaces.of(team);
      return workspace && runCommand(context, workspace, command);
    },
    interactivity,
    start: () => inbox.start(handle),
    idle: interactivity.idle,
  };
}

/** What the inbox needs to know of an event. Null: the event is not for us. */
function inboxEntryOf(
  event: SlackEventBody,
  eventId: string,
  botUser: string,
): { eventId: string; slackUser: string; lane: string; ts: string } | null {
  if (event.type !== 'message' && event.type !== 'app_mention')
    return { eventId, slackUser: '', lane: eventId, ts: '' };
  const message = readMessage(event, botUser);
  if (!message) return null;
  const { channel, threadTs, slackUser, ts, isDirect, isMention } = message;
  // Messages in a channel, outside threads, that do not mention us are not stored.
  if (!isDirect && !isMention && threadTs === ts) return null;
  // One message can arrive as two events with different ids.
  return { eventId: `${channel}/${ts}`, slackUser, lane: JSON.stringify([channel, threadTs, slackUser]), ts };
}

const id = z.string().min(1).max(100);
const homeOpenedSchema = z.object({ user: id, tab: z.literal('home') });
const stoppedSchema = z.object({ user: id, channel: id, thread_ts: id });

async function homeOpened(
  context: SlackContext,
  { event }: InboxEvent,
  workspace: SlackWorkspace,
): Promise<Handled> {
  const { data } = homeOpenedSchema.safeParse(event);
  if (data) await publishHome(context, workspace, data.user);
  return { kind: 'done' };
}

/** The person pressed Slack's own button to stop the agent. */
async function sessionStopped(
  { slack }: SlackContext,
  { event }: InboxEvent,
  workspace: SlackWorkspace,
): Promise<Handled> {
  const { data } = stoppedSchema.safeParse(event);
  if (!data) return { kind: 'done' };
  const { user: slackUser, channel, thread_ts: threadTs } = data;
  const { team, tenant } = workspace;
  const stopped = await slack.stop.inThread(tenant, { team, channel, threadTs, slackUser });
  // If the turn was stopped, the thread says so.
  const place = { channel, threadTs, slackUser, isDirect: channel.startsWith('D') };
  if (stopped === 'not-theirs')
    await notify(workspace, place, (await wordsFor(workspace, slackUser)).stops[stopped]);
  return { kind: 'done' };
}
