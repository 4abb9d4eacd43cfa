/** The workspaces in which the Slack app is installed, each with a client that acts as its bot. */
import { createSlackClient } from '../api/slack/vocabulary/client.ts';
import type { WebClient } from '../api/slack/vocabulary/client.ts';
import type { SlackInstallation } from '../storage/tables/slack.ts';
import type { Storage } from '../storage/storage.ts';
import type { KeyRing } from './sealing/key-ring.ts';
import { slackTokenContext } from './sealing/sealed-values.ts';

export interface SlackWorkspace extends Omit<SlackInstallation, 'sealed'> {
  client: WebClient;
}

export interface SlackClients {
  /** Null: the app is not installed there. */
  of(team: string): Promise<SlackWorkspace | null>;
}

interface Parts {
  storage: Pick<Storage, 'slack'>;
  keys: Pick<KeyRing, 'open'>;
  apiUrl: string;
}

export function createSlackClients({ storage, keys, apiUrl }: Parts): SlackClients {
  return {
    async of(team) {
      const installation = await storage.slack.installations.get(team);
      if (!installation) return null;
      const { sealed, ...workspace } = installation;
      return { ...workspace, client: createSlackClient(apiUrl, keys.open(sealed, slackTokenContext(team))) };
    },
  };
}
