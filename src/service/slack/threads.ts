/**
 * Where people talk to agents in Slack: the conversation of each person in a thread, the agent of a channel, and how people
 * stop what they have asked.
 */
import { randomUUID } from 'node:crypto';
import type { Config } from '../../platform/config/config.ts';
import type { SlackThread, ThreadKey } from '../../storage/tables/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Cancelled } from '../end-turn.ts';
import type { Principal, UserPrincipal } from '../principal.ts';
import type { SlackLinks } from './links.ts';

export type { SlackThread } from '../../storage/tables/slack.ts';

interface Parts {
  storage: Storage;
  config: Pick<Config, 'agents'>;
}

export function createSlackThreads({ storage, config: { agents } }: Parts) {
  const { threads } = storage.slack;
  const [first = ''] = agents.keys();

  async function agentOf(team: string, channel: string): Promise<string> {
    const chosen = await threads.agentOf(team, channel);
    // The agents file may have lost the chosen agent since.
    return chosen !== null && agents.has(chosen) ? chosen : first;
  }

  return {
    /** Null: this person has asked nothing there. */
    find: (thread: ThreadKey): Promise<SlackThread | null> => threads.get(thread),
    /** Returns the existing one if there is one. */
    async begin({ team, channel, threadTs, slackUser }: ThreadKey, tenant: string): Promise<SlackThread> {
      const agent = await agentOf(team, channel);
      const conversation = randomUUID();
      return threads.begin({ team, channel, threadTs, slackUser, tenant, conversation, agent });
    },
    /** The name of the agent that answers in new threads of the channel. */
    agentOf,
    chooseAgent: (team: string, channel: string, agent: string): Promise<void> =>
      threads.setAgent(team, channel, agent === first ? null : agent),
  };
}

/** `not-theirs`: they have asked nothing in this thread, or are not linked. */
export type Stopped = 'stopped' | 'idle' | 'not-theirs';

export type CancelTurn = (
  principal: Principal,
  of: { conversation: string; turnId?: string },
) => Promise<Cancelled>;

interface StopParts {
  storage: Storage;
  config: Pick<Config, 'agents'>;
  links: Pick<SlackLinks, 'principalOf'>;
  cancelTurn: CancelTurn;
}

const mostTurns = 100;

export function createSlackStop({ storage, config, links, cancelTurn }: StopParts) {
  const { threads } = storage.slack;
  return {
    async inThread(tenant: string, at: ThreadKey): Promise<Stopped> {
      const principal = await links.principalOf(at, tenant);
      const thread = await threads.get(at);
      if (!principal || thread?.tenant !== tenant) return 'not-theirs';
      const { status } = await cancelTurn(principal, { conversation: thread.conversation });
      return status === 'idle' ? 'idle' : 'stopped';
    },
    /** Stops everything that they have asked in this channel. Returns the number of turns. */
    async inChannel(
      principal: UserPrincipal,
      { team, channel, slackUser }: { team: string; channel: string; slackUser: string },
    ): Promise<number> {
      const page = { after: null, limit: mostTurns };
      const lists = await Promise.all(
        [...config.agents.keys()].map((agent) =>
          storage.turns.list(principal, { agent, statuses: ['starting', 'running'] }, page),
        ),
      );
      const stopped = lists
        .flatMap(({ rows }) => rows)
        .map(async ({ tenant, conversation, turnId }) => {
          const thread = await threads.ofConversation({ tenant, conversation });
          const isHere =
            thread?.team === team && thread.channel === channel && thread.slackUser === slackUser;
          if (!isHere) return 0;
          const { status } = await cancelTurn(principal, { conversation, turnId });
          return status === 'idle' ? 0 : 1;
        });
      return (await Promise.all(stopped)).reduce<number>((sum, one) => sum + one, 0);
    },
  };
}
