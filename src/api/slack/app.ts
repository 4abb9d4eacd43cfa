/**
 * The Slack app: what comes in, signed, is sorted here. Messages become turns (`messages.ts`) once it is known who
 * speaks, in workspaces that have installed the app.
 */
import type { SlackConfig } from '../../config/config.ts';
import type { Handled, InboxEvent } from '../../service/slack/inbox.ts';
import type { SlackWorkspace } from '../../service/slack/slack-service.ts';
import { readMessage } from '../../slack/read-event.ts';
import type { SlackEventBody } from '../../slack/read-event.ts';
import type { SlackContext } from './context.ts';
import { createInteractivity } from './interactivity.ts';
import type { SlackInteractivity } from './interactivity.ts';
import { createMessageHandler } from './messages.ts';
import { createHomeOpened, createSessionStopped } from './other-events.ts';
import { createCommands } from './run-command.ts';
import type { SlackCommand } from './run-command.ts';

export interface SlackApp {
  settings: SlackConfig;
  /** Returns when the event is safe. Rejects where Slack shall send it again. */
  receive(event: { team: string; eventId: string; event: SlackEventBody }): Promise<Received>;
  /** Null: of a workspace that has not installed the app. */
  runCommand(team: string, command: SlackCommand): Promise<string | null>;
  interactivity: Pick<SlackInteractivity, 'click' | 'submit'>;
  /** Begins to take what was kept. */
  start(): void;
  /** Resolves when nothing that somebody pressed or sent is under way any more. */
  idle(): Promise<void>;
}

/** `foreign`: of a workspace that has not installed the app. `early`: nobody knows yet. */
export type Received = 'kept' | 'ignored' | 'foreign' | 'early';

type HandleEvent = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createSlackApp(context: SlackContext): SlackApp {
  const { settings, workspaces, installs, inbox } = context.slack;
  const runCommand = createCommands(context);
  const interactivity = createInteractivity(context);
  const message = createMessageHandler(context);
  const checkInstallation: HandleEvent = async (_work, workspace) => {
    await installs.check(workspace);
    return { kind: 'done' };
  };
  /** By the type of the event; of others nothing is kept. */
  const handlers = new Map<string, HandleEvent>([
    ['message', message],
    ['app_mention', message],
    ['app_home_opened', createHomeOpened(context)],
    ['agent_session_stopped', createSessionStopped(context)],
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
      const about = aboutOf(event, eventId, botUser);
      if (!about) return 'ignored';
      await inbox.receive({ team, event, ...about });
      return 'kept';
    },
    async runCommand(team, command) {
      const workspace = await workspaces.of(team);
      return workspace && runCommand(workspace, command);
    },
    interactivity,
    start: () => inbox.start(handle),
    idle: interactivity.idle,
  };
}

/** Null: nothing for us. */
function aboutOf(
  event: SlackEventBody,
  eventId: string,
  botUser: string,
): { eventId: string; slackUser: string; lane: string; ts: string } | null {
  if (event.type !== 'message' && event.type !== 'app_mention')
    return { eventId, slackUser: '', lane: eventId, ts: '' };
  const message = readMessage(event, botUser);
  if (!message) return null;
  const { channel, threadTs, slackUser, ts, isDirect, isMention } = message;
  // Of what people say in a channel, only threads may concern us: nothing else of it is kept.
  if (!isDirect && !isMention && threadTs === ts) return null;
  // One message can come as two events, each with an id of its own.
  return { eventId: `${channel}/${ts}`, slackUser, lane: JSON.stringify([channel, threadTs, slackUser]), ts };
}
