/** Stopping what is at work for somebody: only their own, wherever they say so. */
import type { Config } from '../../config/config.ts';
import type { SlackWorkspace } from '../../credentials/slack-clients.ts';
import type { ThreadKey } from '../../storage/ports/slack.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Cancelled } from '../cancel-turn.ts';
import type { Principal, UserPrincipal } from '../principal.ts';
import type { SlackLinks } from './links.ts';

export interface StopParts {
  storage: Pick<Storage, 'slack' | 'turns'>;
  config: Pick<Config, 'agents'>;
  links: Pick<SlackLinks, 'linked'>;
  cancelTurn(principal: Principal, of: { conversation: string; turnId?: string }): Promise<Cancelled>;
}

/** `not-theirs`: they have asked nothing in this thread, or are not linked (any more). */
export type Stopped = 'stopped' | 'idle' | 'not-theirs';

export const stopWords = {
  stopped: 'I stop.',
  idle: 'I am not at work on anything of yours here.',
  'not-theirs': 'Only whoever asked me can stop me.',
} satisfies Record<Stopped, string>;

export async function stopInThread(
  { storage, links, cancelTurn }: StopParts,
  { tenant }: SlackWorkspace,
  at: ThreadKey,
): Promise<Stopped> {
  const person = await links.linked(at);
  const thread = await storage.slack.threads.get(at);
  if (person?.tenant !== tenant || thread?.tenant !== tenant) return 'not-theirs';
  const principal = { kind: 'user', tenant, user: person.user } as const;
  const { status } = await cancelTurn(principal, { conversation: thread.conversation });
  return status === 'idle' ? 'idle' : 'stopped';
}

const mostTurns = 100;

/** Everything that they have asked in this channel. Returns how many turns were at work. */
export async function stopInChannel(
  { storage, config, cancelTurn }: StopParts,
  { team }: SlackWorkspace,
  { principal, channel, slackUser }: { principal: UserPrincipal; channel: string; slackUser: string },
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
      const thread = await storage.slack.threads.ofConversation({ tenant, conversation });
      const isHere = thread?.team === team && thread.channel === channel && thread.slackUser === slackUser;
      if (!isHere) return 0;
      const { status } = await cancelTurn(principal, { conversation, turnId });
      return status === 'idle' ? 0 : 1;
    });
  return (await Promise.all(stopped)).reduce<number>((sum, one) => sum + one, 0);
}
