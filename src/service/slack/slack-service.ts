/**
 * What surfaces need of Slack and storage keeps: workspaces, who people are here, their threads, and events until they are
 * taken. Plain values in and out; what Slack sends and shows is read and built in `api/slack/`.
 */
import type { Logger } from 'pino';
import type { Config, SlackConfig } from '../../config/config.ts';
import { createSlackClients } from '../../credentials/slack-clients.ts';
import type { SlackClients } from '../../credentials/slack-clients.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { Storage } from '../../storage/storage.ts';
import type { StartedSlackDeliveries } from './deliveries.ts';
import { createSlackInbox } from './inbox.ts';
import type { SlackInbox } from './inbox.ts';
import { createSlackInstalls } from './installs.ts';
import type { SlackInstalls } from './installs.ts';
import { createSlackLinks } from './links.ts';
import type { SlackLinks } from './links.ts';
import { createSlackQuestions } from './questions.ts';
import type { SlackQuestions } from './questions.ts';
import { createSlackStop } from './stop.ts';
import type { CancelTurn, SlackStop } from './stop.ts';
import { createSlackThreads } from './threads.ts';
import type { SlackThreads } from './threads.ts';

export type { SlackWorkspace } from '../../credentials/slack-clients.ts';

export interface SlackService {
  settings: SlackConfig;
  /** Each with a client that acts as the app's bot there. */
  workspaces: SlackClients;
  installs: SlackInstalls;
  links: SlackLinks;
  /** Whoever takes its events starts it. */
  inbox: Omit<SlackInbox, 'wake' | 'close'>;
  threads: SlackThreads;
  questions: SlackQuestions;
  stop: SlackStop;
  /** Begins to show a turn in its thread. Again is a no-op, unless it was ended from outside: then it begins again. */
  deliver: StartedSlackDeliveries['start'];
  start(): void;
  close(): Promise<void>;
}

export interface SlackServiceParts {
  storage: Storage;
  keys: KeyRing;
  config: Pick<Config, 'agents'>;
  slack: SlackConfig;
  cancelTurn: CancelTurn;
  deliver: StartedSlackDeliveries['start'];
  logger: Logger;
}

export function createSlackService(parts: SlackServiceParts): SlackService {
  const { storage, keys, slack } = parts;
  const workspaces = createSlackClients({ storage, keys, apiUrl: slack.apiUrl });
  const installs = createSlackInstalls(parts);
  const inbox = createSlackInbox(parts);
  const links = createSlackLinks({ storage, workspaces, wake: inbox.wake });
  return {
    settings: slack,
    workspaces,
    installs,
    links,
    inbox,
    threads: createSlackThreads(parts),
    questions: createSlackQuestions({ storage, links }),
    stop: createSlackStop({ ...parts, links }),
    deliver: parts.deliver,
    start: installs.start,
    async close() {
      await Promise.all([inbox.close(), installs.close()]);
    },
  };
}
