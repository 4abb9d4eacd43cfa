/**
 * Polls what could settle open questions (remote servers, credential stores) and settles them. Polls are rows under a
 * lease, which any worker claims: no workflow and no activity waits for one.
 */
import type { Logger } from 'pino';
import { createCallRounds } from '../activities/call-tool/rounds.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { KeyRing } from '../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../credentials/store.ts';
import type { RemoteServers } from '../remote/remote-servers.ts';
import { startLeasedLoop } from '../storage/leased-loop.ts';
import type { LeasedLoop } from '../storage/leased-loop.ts';
import type { Poll, PollSubject } from '../storage/ports/polls.ts';
import type { Storage } from '../storage/storage.ts';
import { createConnectionPoll } from './poll-connection.ts';
import { createServerPoll } from './poll-server.ts';

/** How long a lease lasts, and so the pause between two polls: short enough for the one-minute timeouts of stock servers. */
const leaseMs = 15_000;
const renewMs = 5_000;
/** When a poll has been due for this long, no place is free for it: polls that run longer than a lease give theirs up. */
const crowdedMs = 2_000;

const shortPolls = { name: 'polls', kinds: ['stream', 'connection'], atOnce: 256 } as const;
/** Each is a stream that stays open for as long as there is room. */
const pageListeners = { name: 'listening for pages', kinds: ['pages'], atOnce: 64 } as const;

interface PollingParts {
  config: Pick<Config, 'servers'>;
  storage: Storage;
  keys: KeyRing;
  remote: RemoteServers;
  storeOf(server: ServerConfig): CredentialStore;
  logger: Logger;
}

export function startPolling(parts: PollingParts): Pick<LeasedLoop, 'stop'> {
  const { storage, logger } = parts;
  const pollServer = createServerPoll({ ...parts, rounds: createCallRounds(parts) });
  const pollConnection = createConnectionPoll(parts);

  async function make(poll: Poll, signal: AbortSignal): Promise<void> {
    const afterMs = await outcomeOf(poll, signal);
    if (afterMs === null) await storage.polls.drop(poll.id);
    else if (signal.aborted) await storage.polls.again(poll.id, 0);
    else if (afterMs !== leaseMs) await storage.polls.again(poll.id, afterMs);
  }

  /** In how many milliseconds to poll again; null when nothing is left to poll. */
  async function outcomeOf({ subject, questions, count }: Poll, signal: AbortSignal) {
    if (subject.kind === 'connection') return pollConnection(subject, count);
    const result = await pollServer(subject, count, signal);
    if (result.kind === 'ended') return null;
    if (result.kind === 'unchanged') return result.againMs ?? leaseMs;
    const ids = result.elicitationIds.filter((id) => questions.includes(id));
    if (ids.length > 0) await storage.elicitations.settle(ids, result.event);
    return leaseMs;
  }

  function start({
    name,
    kinds,
    atOnce,
  }: {
    name: string;
    kinds: readonly PollSubject['kind'][];
    atOnce: number;
  }) {
    const since = new WeakMap<Poll, number>();
    return startLeasedLoop<Poll>(
      {
        name,
        everyMs: 500,
        atOnce,
        async claim(free, underWay) {
          // One server gets at most half of the free places, so that one that does not answer cannot take all.
          const perServer = Math.max(1, Math.floor(free / 2));
          const except = serversWith(underWay, perServer);
          const polls = await storage.polls.claim(
            { kinds: [...kinds], limit: free, perServer, except },
            leaseMs,
          );
          const known = new Set(underWay.map(({ id }) => id));
          const fresh = polls.filter(({ id }) => !known.has(id));
          for (const poll of fresh) since.set(poll, performance.now());
          return fresh;
        },
        work: make,
        renew: {
          everyMs: renewMs,
          async claims(underWay) {
            const pending = await storage.polls.hold(
              underWay.map(({ id }) => id),
              leaseMs,
            );
            const isCrowded = await storage.polls.isDue([...kinds], crowdedMs);
            const isOld = (poll: Poll) => performance.now() - (since.get(poll) ?? 0) > leaseMs;
            return new Set(underWay.filter((poll) => pending.has(poll.id) && !(isCrowded && isOld(poll))));
          },
        },
      },
      logger,
    );
  }

  const loops = [start(shortPolls), start(pageListeners)];
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}

function serversWith(polls: Poll[], atLeast: number): string[] {
  const counts = new Map<string, number>();
  for (const { subject } of polls) counts.set(subject.server, (counts.get(subject.server) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= atLeast).map(([server]) => server);
}
