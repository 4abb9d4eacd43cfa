/**
 * Polls remote servers and credential stores for what could settle open questions, and settles them. Polls are rows with a
 * lease, which any worker claims: no workflow and no activity waits for a poll.
 */
import type { Logger } from 'pino';
import { createCallRounds } from '../../activities/call-tool/rounds.ts';
import type { Config, ServerConfig } from '../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/credential-store.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import type { Poll } from '../../storage/tables/polls.ts';
import type { PollSubject } from '../../storage/schema/question-tables.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CallRounds } from '../../activities/call-tool/rounds.ts';
import { findAccount } from '../../activities/questions.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import { CredentialStoreError } from '../../credentials/credential-store.ts';
import type { SettlingEvent } from '../../storage/tables/elicitations.ts';
import type { RoundRef } from '../../turn/step.ts';

/** A lease is also the pause between two polls: short enough for the one-minute timeouts of common servers. */
const leaseMs = 15_000;
const renewMs = 5_000;
/** If a poll has been due for this long, there is no free place: then polls that run longer than a lease end. */
const crowdedMs = 2_000;

const shortPolls = { name: 'polls', kinds: ['stream', 'connection'], atOnce: 256 } as const;
/** Each is a stream that stays open while there is room. */
const pageListeners = { name: 'listening for pages', kinds: ['pages'], atOnce: 64 } as const;

interface PollingParts {
  config: Config;
  storage: Storage;
  keys: KeyRing;
  remote: RemoteServers;
  storeOf(server: ServerConfig): CredentialStore;
  logger: Logger;
}

export function startPolling(parts: PollingParts): { stop(): Promise<void> } {
  const { storage, logger } = parts;
  const rounds = createCallRounds(parts);

  async function make(poll: Poll, signal: AbortSignal): Promise<void> {
    const afterMs = await outcomeOf(poll, signal);
    if (afterMs === null) await storage.polls.drop(poll.id);
    else if (signal.aborted) await storage.polls.again(poll.id, 0);
    else if (afterMs !== leaseMs) await storage.polls.again(poll.id, afterMs);
  }

  /** In how many milliseconds to poll again; null if nothing is left to poll. */
  async function outcomeOf({ subject, questions, count }: Poll, signal: AbortSignal) {
    if (subject.kind === 'connection') return pollConnection(parts, subject, count);
    const result = await pollServer({ ...parts, rounds }, subject, count, signal);
    if (result.kind === 'ended') return null;
    if (result.kind === 'unchanged') return result.againMs ?? leaseMs;
    const ids = result.elicitationIds.filter((id) => questions.includes(id));
    if (ids.length > 0) await storage.elicitations.settle(ids, result.event);
    return leaseMs;
  }

  function start({ name, kinds, atOnce }: typeof shortPolls | typeof pageListeners) {
    const since = new WeakMap<Poll, number>();
    return startLeasedLoop<Poll>(
      {
        name,
        everyMs: 500,
        atOnce,
        async claim(free, underWay) {
          // A server gets at most half of the free places, so that one that does not answer cannot take all.
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

/** Backoff between polls of a credential store: most people connect within seconds. */
const firstPauseMs = 2_000;
const longestPauseMs = 15_000;

/**
 * Asks a credential store whether the account was connected there without our being notified. Returns in how many
 * milliseconds to poll again; null if the account is connected, which has settled its questions.
 */
async function pollConnection(
  parts: PollingParts,
  { turn, server, seenVersion }: Extract<PollSubject, { kind: 'connection' }>,
  count: number,
): Promise<number | null> {
  const pauseMs = Math.min(firstPauseMs * 1.5 ** (count - 1), longestPauseMs);
  try {
    const isFound = await findAccount(parts, { ...turn, server, seenVersion });
    return isFound ? null : pauseMs;
  } catch (error) {
    if (!(error instanceof CredentialStoreError)) throw error;
    const { forOperator: reason, retryAfterMs } = error;
    parts.logger.warn({ server, reason }, 'an account could not be looked for');
    return retryAfterMs ?? pauseMs;
  }
}

type ServerPollResult =
  | { kind: 'unchanged'; againMs?: number }
  /** The call has no open round, or cannot be observed. */
  | { kind: 'ended' }
  | { kind: 'changed'; event: SettlingEvent; elicitationIds: string[] };

/** Asks a server whose call has asked something whether it still waits, and whether its page is done. */
async function pollServer(
  { config, rounds, remote, storeOf }: PollingParts & { rounds: CallRounds },
  call: RoundRef,
  count: number,
  signal: AbortSignal,
): Promise<ServerPollResult> {
  const { turn, toolCallId } = call;
  const server = config.servers.get(call.server);
  const round = (await rounds.list(turn, toolCallId))[call.round - 1];
  if (!server || !round) return { kind: 'ended' };
  const credential = await storeOf(server).resolve(server, connectionKey(server, turn));
  if (credential.kind !== 'credential') return { kind: 'ended' };
  const result = await remote.observeCall({ server, credential, signal }, round, count);
  if (result.kind !== 'changed') return result;
  const changed = round.questions.filter(({ key }) => result.keys.includes(key));
  return {
    kind: 'changed',
    event:
      result.change === 'page_done' ? { type: 'page-done' } : { type: 'withdrawn', because: result.change },
    elicitationIds: changed.map(({ elicitationId }) => elicitationId),
  };
}
