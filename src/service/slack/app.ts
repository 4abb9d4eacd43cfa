/**
 * The Slack app: what comes in, signed, is sorted here. Messages become turns (`messages.ts`) once it is known who speaks
 * (`links.ts`), in workspaces that have installed the app (`installs.ts`).
 */
import type { Logger } from 'pino';
import type { Config, SlackConfig } from '../../config/config.ts';
import { createSlackClients } from '../../credentials/slack-clients.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { readMessage } from '../../slack/read-event.ts';
import type { SlackEventBody } from '../../slack/read-event.ts';
import type { NewSlackDelivery } from '../../storage/ports/slack-deliveries.ts';
import type { Storage } from '../../storage/storage.ts';
import type { OwnTurn } from '../own-turn.ts';
import { rateLimitKey } from '../principal.ts';
import type { Principal } from '../principal.ts';
import type { Question } from '../questions.ts';
import type { TurnRequest } from '../turn-request.ts';
import type { AnswerQuestion } from '../answer-question.ts';
import type { Cancelled } from '../cancel-turn.ts';
import type { OwnConnection } from '../connections.ts';
import { createCommands } from './commands.ts';
import type { SlackCommand } from './commands.ts';
import { createSlackInbox } from './inbox.ts';
import type { Handled, InboxEvent } from './inbox.ts';
import { createInteractivity } from './interactivity.ts';
import type { SlackInteractivity } from './interactivity.ts';
import { createSlackInstalls } from './installs.ts';
import type { SlackInstalls } from './installs.ts';
import { createSlackLinks } from './links.ts';
import type { SlackLinks } from './links.ts';
import { createMessageHandler } from './messages.ts';
import { createHomeOpened, createSessionStopped } from './other-events.ts';
import { createStartLimit } from './start-limit.ts';

export interface SlackApp {
  settings: SlackConfig;
  /** Returns when the event is safe. Rejects where Slack shall send it again. */
  receive(event: { team: string; eventId: string; event: SlackEventBody }): Promise<Received>;
  /** Null: of a workspace that has not installed the app. */
  runCommand(team: string, command: SlackCommand): Promise<string | null>;
  interactivity: Pick<SlackInteractivity, 'click' | 'submit'>;
  links: SlackLinks;
  installs: SlackInstalls;
  start(): void;
  close(): Promise<void>;
}

/** `foreign`: of a workspace that has not installed the app. `early`: nobody knows yet. */
export type Received = 'kept' | 'ignored' | 'foreign' | 'early';

export interface SlackAppParts {
  storage: Storage;
  keys: KeyRing;
  config: Pick<Config, 'agents' | 'http'>;
  slack: SlackConfig;
  startTurn(principal: Principal, request: TurnRequest): Promise<OwnTurn>;
  questionsOf(principal: Principal): Promise<Question[]>;
  connectionsOf(principal: Principal): Promise<OwnConnection[]>;
  cancelTurn(principal: Principal, of: { conversation: string; turnId?: string }): Promise<Cancelled>;
  answerQuestion: AnswerQuestion;
  deliver(delivery: NewSlackDelivery): Promise<void>;
  logger: Logger;
}

type HandleEvent = (work: InboxEvent, workspace: SlackWorkspace) => Promise<Handled>;

export function createSlackApp(parts: SlackAppParts): SlackApp {
  const { storage, keys, config, slack, logger } = parts;
  const clients = createSlackClients({ storage, keys, apiUrl: slack.apiUrl });
  const installs = createSlackInstalls({ storage, keys, slack, logger });
  const inbox = createSlackInbox({ storage, keys, handle, logger });
  const links = createSlackLinks({ storage, clients, publicUrl: config.http.publicUrl, wake: inbox.wake });
  const runCommand = createCommands({ ...parts, links });
  const interactivity = createInteractivity({ ...parts, clients, links });
  const mayStart = createStartLimit(config.http.rateLimitPerMinute);
  const message = createMessageHandler({
    ...parts,
    links,
    mayStart: (principal) => mayStart(rateLimitKey(principal)),
  });
  const checkInstallation: HandleEvent = async (_work, workspace) => {
    await installs.check(workspace);
    return { kind: 'done' };
  };
  /** By the type of the event; of others nothing is kept. */
  const handlers = new Map<string, HandleEvent>([
    ['message', message],
    ['app_mention', message],
    ['app_home_opened', createHomeOpened({ ...parts, links })],
    ['agent_session_stopped', createSessionStopped({ ...parts, links })],
    ['app_uninstalled', checkInstallation],
    ['tokens_revoked', checkInstallation],
  ]);

  async function handle(work: InboxEvent): Promise<Handled> {
    const workspace = await clients.of(work.team);
    const handler = handlers.get(work.event.type);
    return workspace && handler ? handler(work, workspace) : { kind: 'done' };
  }

  return {
    settings: slack,
    async receive({ team, eventId, event }) {
      if (!handlers.has(event.type)) return 'ignored';
      const installation = await storage.slack.installations.get(team);
      if (!installation) return installs.isReady() ? 'foreign' : 'early';
      const about = aboutOf(event, eventId, installation.botUser);
      if (!about) return 'ignored';
      await inbox.receive({ team, eventId, event, ...about });
      return 'kept';
    },
    async runCommand(team, command) {
      const workspace = await clients.of(team);
      return workspace && runCommand(workspace, command);
    },
    interactivity,
    links,
    installs,
    start() {
      inbox.start();
      installs.start();
    },
    async close() {
      await Promise.all([inbox.close(), installs.close(), interactivity.idle()]);
    },
  };
}

/** Null: nothing for us. */
function aboutOf(
  event: SlackEventBody,
  eventId: string,
  botUser: string,
): { slackUser: string; lane: string; ts: string } | null {
  if (event.type !== 'message' && event.type !== 'app_mention')
    return { slackUser: '', lane: eventId, ts: '' };
  const message = readMessage(event, botUser);
  if (!message) return null;
  const { channel, threadTs, slackUser, ts, isDirect, isMention } = message;
  // Of what people say in a channel, only threads may concern us: nothing else of it is kept.
  if (!isDirect && !isMention && threadTs === ts) return null;
  return { slackUser, lane: JSON.stringify([channel, threadTs, slackUser]), ts };
}
