/** Stopping what is at work for somebody in Slack: only their own, wherever they say so. */
import type { Config } from '../../config/config.ts';
import type { ThreadKey } from '../../storage/ports/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Cancelled } from '../cancel-turn.ts';
import type { Principal, UserPrincipal } from '../principal.ts';
import type { SlackLinks } from './links.ts';

/** `not-theirs`: they have asked nothing in this thread, or are not linked (any more). */
export type Stopped = 'stopped' | 'idle' | 'not-theirs';

export interface SlackStop {
  inThread(tenant: string, thread: ThreadKey): Promise<Stopped>;
  /** Everything that they have asked in this channel. Returns how many turns were at work. */
  inChannel(
    principal: UserPrincipal,
    where: { team: string; channel: string; slackUser: string },
  ): Promise<number>;
}

export type CancelTurn = (
  principal: Principal,
  of: { conversation: string; turnId?: string },
) => Promise<Cancelled>;

interface Parts {
  storage: Pick<Storage, 'slack' | 'turns'>;
  config: Pick<Config, 'agents'>;
  links: Pick<SlackLinks, 'principalOf'>;
  cancelTurn: CancelTurn;
}

const mostTurns = 100;

export function createSlackStop({ storage, config, links, cancelTurn }: Parts): SlackStop {
  const { threads } = storage.slack;
  return {
    async inThread(tenant, at) {
      const principal = await links.principalOf(at, tenant);
      const thread = await threads.get(at);
      if (!principal || thread?.tenant !== tenant) return 'not-theirs';
      const { status } = await cancelTurn(principal, { conversation: thread.conversation });
      return status === 'idle' ? 'idle' : 'stopped';
    },
    async inChannel(principal, { team, channel, slackUser }) {
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
