/** Where people talk to agents in Slack: the conversation of each person in a thread, and who answers in a channel. */
import { randomUUID } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { SlackThread, ThreadKey } from '../../storage/ports/slack.ts';
import type { Storage } from '../../storage/storage.ts';

export type { SlackThread } from '../../storage/ports/slack.ts';

export interface SlackThreads {
  /** Null: this person has asked nothing there. */
  find(thread: ThreadKey): Promise<SlackThread | null>;
  /** The one that is there by now: an earlier one stays. */
  begin(thread: ThreadKey, tenant: string): Promise<SlackThread>;
  /** By name: who answers in new threads of the channel. */
  agentOf(team: string, channel: string): Promise<string>;
  chooseAgent(team: string, channel: string, agent: string): Promise<void>;
}

interface Parts {
  storage: Pick<Storage, 'slack'>;
  config: Pick<Config, 'agents'>;
}

export function createSlackThreads({ storage, config: { agents } }: Parts): SlackThreads {
  const { threads } = storage.slack;
  const [first = ''] = agents.keys();

  async function agentOf(team: string, channel: string): Promise<string> {
    const chosen = await threads.agentOf(team, channel);
    // An agent that has left the file since answers nobody.
    return chosen !== null && agents.has(chosen) ? chosen : first;
  }

  return {
    find: (thread) => threads.get(thread),
    async begin({ team, channel, threadTs, slackUser }, tenant) {
      const agent = await agentOf(team, channel);
      const conversation = randomUUID();
      return threads.begin({ team, channel, threadTs, slackUser, tenant, conversation, agent });
    },
    agentOf,
    chooseAgent: (team, channel, agent) => threads.setAgent(team, channel, agent === first ? null : agent),
  };
}
