/**
 * Watches whether this process's database and Temporal belong together. If one of them is a restored copy, it contains
 * turns of other processes, or knows less than the other, and acting on it cannot be undone.
 *
 * Both sides store the installation's id and a generation, which one process at a time advances: first Temporal's, then
 * the database's. Any process completes a gap of one, because the database announces the token beforehand. See
 * docs/decisions/0110-an-installation-knows-its-temporal.md.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { isOfTemporal } from '../../service/temporal-errors.ts';
import type { InstallationRow } from '../../storage/tables/installation.ts';
import type { TurnRow } from '../../storage/tables/turn-rows.ts';
import type { Storage } from '../../storage/storage.ts';
import { connectLazily } from '../temporal/connection.ts';
import { grpcStatus, grpcStatusOf } from '../temporal/grpc-status.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { databaseTrouble } from '../../turn/step.ts';
import { turnWorkflowId } from '../../workflows/messages.ts';
import { compare, explain, NotTogether } from './belonging.ts';
import type { Belonging } from './belonging.ts';
import { createMarks, NoSchedules } from './mark.ts';
import type { FoundMark } from './mark.ts';

export interface Intervals {
  /** Between two generations. Restores to a time before the last one are detected. */
  advanceMs: number;
  /** Between two checks while both sides belong together, and otherwise. */
  togetherMs: number;
  otherwiseMs: number;
}

export const usualIntervals: Intervals = { advanceMs: 120_000, togetherMs: 10_000, otherwiseMs: 1_000 };

/**
 * How many of the newest turns are looked up in a namespace without a mark. If Temporal knows one of them, it is the
 * right Temporal.
 */
const witnesses = 20;
/** The longest wait for the first check. */
const firstLookMs = 5_000;
/** How long the start of an activity waits while the sides cannot be read. */
const soonMs = 4_000;
const soonPauseMs = 250;
/** How often in a row the sides may change while they are read. */
const mostReads = 10;

export interface Examined {
  belonging: Belonging;
  row: InstallationRow | null;
  found: FoundMark | null;
}

interface Parts {
  config: { temporal: Config['temporal'] };
  storage: Pick<Storage, 'installation'>;
  logger: Logger;
}

/** For commands and for the watch: reads both sides. `look` also writes what is missing if that is certain. */
export function openInstallation({ config: { temporal }, storage, logger }: Parts) {
  const table = storage.installation;
  // Without the client's retries, which hide whether Temporal is unreachable or slow.
  const { connection, close } = connectLazily(temporal, { interceptors: [], connectTimeout: firstLookMs });
  const client = new Client({ connection, namespace: temporal.namespace });
  const marks = createMarks(connection, temporal);
  let isOff = false;

  async function knows(turn: TurnRow): Promise<boolean> {
    try {
      const describe = () => client.workflow.getHandle(turnWorkflowId(turn)).describe();
      await client.withDeadline(Date.now() + 5_000, describe);
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  /** A database that was never paired is judged by its running turns, any other by all turns that it has started. */
  async function mayBeMarked(row: InstallationRow | null): Promise<boolean> {
    const isPaired = row !== null && row.generation > 0;
    const begun = isPaired
      ? await table.latestTurns(witnesses)
      : (await table.liveTurns(witnesses)).filter(({ status }) => status === 'running');
    if (begun.length === 0) return true;
    for (const turn of begun) if (await knows(turn)) return true;
    return false;
  }

  /** Changes nothing. Rejects when one of them does not answer. */
  async function examine(): Promise<Examined & { outcome: ReturnType<typeof compare> }> {
    for (let reads = 0; ; reads++) {
      const before = await table.read();
      const found = await marks.read();
      const row = await table.read();
      const outcomes = [before, row].map((one) => compare(one, found?.mark ?? null));
      const outcome = outcomes.find((one) => one === 'together') ?? outcomes[1] ?? 'unmarked';
      const read = { row, found, outcome };
      if (outcome === 'together' || outcome === 'unconfirmed')
        return { ...read, belonging: { kind: 'together' } };
      // Another process has written in between: read both sides again.
      const isStill = before?.id === row?.id && before?.generation === row?.generation;
      if (!isStill && reads < mostReads) continue;
      if (outcome !== 'unmarked') return { ...read, belonging: { kind: 'apart', reason: outcome } };
      return {
        ...read,
        belonging: (await mayBeMarked(row)) ? { kind: 'together' } : { kind: 'apart', reason: 'no-mark' },
      };
    }
  }

  async function look(): Promise<Belonging> {
    if (isOff) return { kind: 'together' };
    for (let writes = 0; writes < mostReads; writes++) {
      const { outcome, belonging, row, found } = await examine();
      if (belonging.kind !== 'together' || outcome === 'together') return belonging;
      if (found) {
        await table.confirm(found.mark.generation);
        continue;
      }
      const { id, generation } = row ?? (await table.make());
      if (generation > 0)
        logger.warn('the mark of this installation at Temporal was gone; it is written again');
      const token = await table.intend(generation);
      if (token !== null) await marks.create({ installation: id, generation: generation + 1, token });
    }
    throw new Error('the mark of the installation does not come to rest');
  }

  return {
    client,
    marks,
    table,
    knows,
    examine,

    /** `look`, with errors turned into `unknown`. */
    async lookSafely(): Promise<Belonging> {
      try {
        return await look();
      } catch (error) {
        if (!(error instanceof NoSchedules))
          return { kind: 'unknown', detail: detailOf(error), cause: error };
        isOff = true;
        logger.warn(
          'this Temporal has no schedules, or does not let us use them: whether it belongs to the database is not checked',
        );
        return { kind: 'together' };
      }
    },

    /** One process per interval writes the next generation. */
    async advance(everyMs: number): Promise<void> {
      if (isOff || !(await table.claim(everyMs))) return;
      const row = await table.read();
      const found = await marks.read();
      if (!row || !found || compare(row, found.mark) !== 'together') return;
      const token = await table.intend(row.generation);
      if (token === null) return;
      await marks.replace(found, { installation: row.id, generation: row.generation + 1, token });
      // Another process may have written first, so the mark is read back.
      await look();
    },

    close,
  };
}

export type OpenedInstallation = ReturnType<typeof openInstallation>;

export interface InstallationWatch {
  /** Why nothing may be done, for operators. Null while both sides belong together or cannot be read. */
  lack(): string | null;
  isTogether(): boolean;
  /** Resolves as soon as they belong together; rejects when `signal` aborts. */
  untilTogether(signal?: AbortSignal): Promise<void>;
  /** For clients: sends nothing to a Temporal that may be another one. */
  guard: WorkflowClientInterceptor;
  /** For workers: starts no activity while their Temporal may be another one. */
  activityGuard: ActivityInterceptorsFactory;
  opened: OpenedInstallation;
  close(): Promise<void>;
}

interface WatchOptions {
  intervals?: Intervals;
  /** Called when both sides stopped belonging together. The process must stop. */
  onParted?: (reason: string) => void;
}

/** Resolves after the first check, or after `firstLookMs` without an answer. */
export async function watchInstallation(
  parts: Parts,
  { intervals = usualIntervals, onParted = () => undefined }: WatchOptions = {},
): Promise<InstallationWatch> {
  const { logger } = parts;
  const opened = openInstallation(parts);
  const stopping = new AbortController();
  let state: Belonging = { kind: 'unknown', detail: 'it was not looked at yet' };
  let hasBelonged = false;
  let looking: Promise<void> | undefined;
  let changed = Promise.withResolvers<void>();

  const look = () => (looking ??= lookNow().finally(() => (looking = undefined)));

  async function lookNow(): Promise<void> {
    const found = await opened.lookSafely();
    if (stopping.signal.aborted) return;
    if (found.kind === 'unknown') {
      // A slow Temporal is still the same one.
      if (found.detail === tooSlow && state.kind === 'together') return;
      // A mismatch only ends when both sides were read and match.
      if (state.kind === 'apart') return;
    }
    const before = state;
    state = found;
    if (isSame(before, found)) return;
    changed.resolve();
    changed = Promise.withResolvers();
    if (found.kind === 'unknown') return logger.warn({ why: found.detail }, unknownWords);
    if (found.kind === 'apart') {
      const reason = explain(found.reason);
      logger.error(reason);
      if (hasBelonged) onParted(reason);
      return;
    }
    hasBelonged = true;
    if (before.kind === 'apart') logger.info('the database and Temporal belong together now');
  }

  async function ensure(): Promise<void> {
    if (state.kind === 'unknown') await look();
    if (state.kind === 'together') return;
    throw new NotTogether(state.kind === 'apart' ? explain(state.reason) : unknownWords);
  }

  /** Waits for a Temporal that has just returned, for less than the shortest time-out of an activity. */
  async function isSoonTogether(): Promise<boolean> {
    for (const start = performance.now(); ; await sleep(soonPauseMs)) {
      const isTogether = await ensure().then(
        () => true,
        () => false,
      );
      if (isTogether || stopping.signal.aborted || performance.now() - start > soonMs) return isTogether;
    }
  }

  async function guarded<I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> {
    await ensure().catch((cause: Error) => {
      // Callers derive their answer from Temporal's own error.
      if (state.kind === 'unknown' && isOfTemporal(state.cause)) throw state.cause;
      throw new ServiceError('Nothing is sent to Temporal.', { cause });
    });
    return next(input);
  }

  async function run(): Promise<void> {
    const { signal } = stopping;
    while (!signal.aborted) {
      const pauseMs = state.kind === 'together' ? intervals.togetherMs : intervals.otherwiseMs;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
      await look();
      if (state.kind !== 'together') continue;
      await opened
        .advance(intervals.advanceMs)
        .catch((err: unknown) => logger.debug({ err }, 'the next generation could not be written'));
    }
  }

  await withTimeout(look(), firstLookMs, undefined);
  const running = run();

  return {
    lack: () => (state.kind === 'apart' ? explain(state.reason) : null),
    isTogether: () => state.kind === 'together',
    async untilTogether(signal) {
      const stopped = Promise.withResolvers<void>();
      signal?.addEventListener('abort', () => stopped.resolve(), { once: true });
      while (state.kind !== 'together') {
        signal?.throwIfAborted();
        await Promise.race([changed.promise, stopped.promise]);
      }
    },
    guard: {
      start: guarded,
      startWithDetails: guarded,
      signal: guarded,
      signalWithStart: guarded,
      query: guarded,
      cancel: guarded,
      terminate: guarded,
      describe: guarded,
    },
    activityGuard: () => ({
      inbound: {
        async execute(input, next) {
          if (await isSoonTogether()) return next(input);
          throw ApplicationFailure.retryable(unknownWords, databaseTrouble);
        },
      },
    }),
    opened,
    async close() {
      stopping.abort();
      await Promise.allSettled([running, looking]);
      await opened.close();
    },
  };
}

const unknownWords = 'cannot tell at present whether the database and Temporal belong together';
const tooSlow = 'Temporal does not answer in time';

function isSame(one: Belonging, other: Belonging): boolean {
  const said = ({ kind, ...rest }: Belonging) => [
    kind,
    'detail' in rest && rest.detail,
    'reason' in rest && rest.reason,
  ];
  return said(one).join() === said(other).join();
}

function detailOf(error: unknown): string {
  const cause = error instanceof ServiceError ? error.cause : error;
  const status = grpcStatusOf(cause);
  if (status === grpcStatus.deadlineExceeded) return tooSlow;
  if (status !== undefined) return `Temporal does not answer (status ${status})`;
  return error instanceof Error ? error.message : String(error);
}
