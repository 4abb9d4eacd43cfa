/**
 * Polls what could settle open questions (remote servers, credential stores) and signals their workflows when something
 * has changed. Polls are rows under a lease, which any worker claims: no workflow and no activity waits for one.
 */
import { Client, WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import { createOpenRounds } from '../activities/call-tool/open-rounds.ts';
import { createCallRounds } from '../activities/call-tool/rounds.ts';
import { startLeasedLoop } from '../storage/leased-loop.ts';
import type { LeasedLoop } from '../storage/leased-loop.ts';
import type { Dependencies } from '../processes/dependencies.ts';
import type { Poll, PollSubject } from '../storage/ports/polls.ts';
import { connectionEstablished, questionUpdate } from '../workflows/messages.ts';
import { createConnectionLook } from './poll-connection.ts';
import { createServerLook } from './poll-server.ts';

/** How long a lease lasts, and so the pause between two polls: short enough for the one-minute timeouts of stock servers. */
const leaseMs = 15_000;
const renewMs = 5_000;
/** A poll that has been due for so long is kept out by those that run. */
const crowdedMs = 2_000;
const signalDeadlineMs = 5_000;

const shortLooks = { name: 'looks', kinds: ['stream', 'connection'], atOnce: 256 } as const;
/** Each is a stream that stays open for as long as there is room. */
const longLooks = { name: 'listening for pages', kinds: ['pages'], atOnce: 64 } as const;

export function startPolling(parts: Dependencies, connection: NativeConnection): LeasedLoop {
  const { storage, config, logger } = parts;
  const client = new Client({ connection, namespace: config.temporal.namespace });
  const calls = createOpenRounds({ ...parts, rounds: createCallRounds(parts), servers: config.servers });
  const lookAtServer = createServerLook(calls, parts.remote);
  const lookForConnection = createConnectionLook({ ...parts, servers: config.servers });

  async function make(look: Poll, signal: AbortSignal): Promise<void> {
    const afterMs = await outcomeOf(look, signal);
    if (afterMs === null) await storage.polls.drop(look.id);
    else if (signal.aborted) await storage.polls.again(look.id, 0);
    else if (afterMs !== leaseMs) await storage.polls.again(look.id, afterMs);
  }

  /** When to look again; null when there is nothing to look at any more. */
  async function outcomeOf({ subject, questions, count, workflowId }: Poll, signal: AbortSignal) {
    if (subject.kind === 'connection') {
      const sight = await lookForConnection(subject, count);
      if (sight.kind === 'nothing-yet') return sight.againMs;
      const { server } = subject;
      return tell(workflowId, (turn) =>
        turn.signal(connectionEstablished, { server, version: sight.version }),
      );
    }
    const sight = await lookAtServer(subject, count, signal);
    if (sight.kind === 'over') return null;
    const elicitationIds = sight.kind === 'news' ? sight.about.filter((id) => questions.includes(id)) : [];
    if (sight.kind === 'quiet' || elicitationIds.length === 0) return leaseMs;
    return tell(workflowId, (turn) => turn.signal(questionUpdate, { elicitationIds, news: sight.news }));
  }

  /** The workflow settles the question, and then nobody looks any more. One that has not heard is told again. */
  async function tell(workflowId: string, message: (turn: WorkflowHandle) => Promise<void>) {
    try {
      const telling = () => message(client.workflow.getHandle(workflowId));
      await client.withDeadline(Date.now() + signalDeadlineMs, telling);
      return leaseMs;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
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
          // A server that answers nobody never takes all places: of what is free it gets half.
          const perServer = Math.max(1, Math.floor(free / 2));
          const except = serversWith(underWay, perServer);
          const looks = await storage.polls.claim(
            { kinds: [...kinds], limit: free, perServer, except },
            leaseMs,
          );
          const known = new Set(underWay.map(({ id }) => id));
          const fresh = looks.filter(({ id }) => !known.has(id));
          for (const look of fresh) since.set(look, performance.now());
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
            const isOld = (look: Poll) => performance.now() - (since.get(look) ?? 0) > leaseMs;
            return new Set(underWay.filter((look) => pending.has(look.id) && !(isCrowded && isOld(look))));
          },
        },
      },
      logger,
    );
  }

  const loops = [start(shortLooks), start(longLooks)];
  return { stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))) };
}

function serversWith(looks: Poll[], atLeast: number): string[] {
  const counts = new Map<string, number>();
  for (const { subject } of looks) counts.set(subject.server, (counts.get(subject.server) ?? 0) + 1);
  return [...counts].filter(([, count]) => count >= atLeast).map(([server]) => server);
}
