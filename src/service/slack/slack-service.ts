/**
 * What surfaces need of Slack: workspaces, linked people, threads, and events until they are handled. Plain values in and
 * out; `api/slack/` parses and builds what Slack sends and shows.
 */
import type { Logger } from 'pino';
import type { Config, SlackConfig } from '../../platform/config/config.ts';
import { createSlackClients } from '../../credentials/slack-clients.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Deliveries } from '../deliveries.ts';
import { createSlackInbox } from './inbox.ts';
import { createSlackInstalls } from './installs.ts';
import { createSlackLinks } from './links.ts';
import { createSlackQuestions } from './questions.ts';
import { createSlackStop, createSlackThreads } from './threads.ts';
import type { CancelTurn } from './threads.ts';

export type { SlackWorkspace } from '../../credentials/slack-clients.ts';

interface SlackServiceParts {
  storage: Storage;
  keys: KeyRing;
  config: Pick<Config, 'agents'>;
  slack: SlackConfig;
  cancelTurn: CancelTurn;
  deliver: Deliveries['startSlack'];
  logger: Logger;
}

export type SlackService = ReturnType<typeof createSlackService>;

export function createSlackService(parts: SlackServiceParts) {
  const { storage, keys, slack } = parts;
  const workspaces = createSlackClients({ storage, keys, apiUrl: slack.apiUrl });
  const installs = createSlackInstalls(parts);
  const inbox = createSlackInbox(parts);
  const links = createSlackLinks({ storage, workspaces, wake: inbox.wake });
  return {
    settings: slack,
    /** Each with a client that acts as the app's bot there. */
    workspaces,
    installs,
    links,
    /** The surface that takes the events starts it. */
    inbox,
    threads: createSlackThreads(parts),
    questions: createSlackQuestions({ storage, links }),
    stop: createSlackStop({ ...parts, links }),
    /**
     * Shows a turn in its thread. A no-op if it is shown already, unless the delivery was ended from outside: then it begins
     * again.
     */
    deliver: parts.deliver,
    start: installs.start,
    async close(): Promise<void> {
      await Promise.all([inbox.close(), installs.close()]);
    },
  };
}
