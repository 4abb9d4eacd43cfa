/**
 * Temporal's record of an installation: three values in the notes of a paused schedule without times. A schedule is the
 * only thing in a namespace that any client can create once and then change by compare-and-set, without a worker.
 *
 * Most servers ignore a change with a stale token silently, newer ones refuse it, so the writer reads the mark back.
 * Each task queue has its own mark, because deployments may share a namespace.
 */
import { randomUUID } from 'node:crypto';
import type { Connection } from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import type { TemporalConfig } from '../config/config.ts';
import { grpcStatus, grpcStatusOf } from '../temporal/grpc-status.ts';

export interface Mark {
  installation: string;
  generation: number;
  token: string;
}

export interface FoundMark {
  mark: Mark;
  /** Changes with each write. */
  version: Uint8Array;
  /** By Temporal's clock. */
  writtenAt: number;
}

/** This Temporal has no schedules, or we may not use them. */
export class NoSchedules extends Error {
  override name = 'NoSchedules';
}

const deadlineMs = 8_000;
const identity = 'interlude';
const about =
  'Written by Interlude. Without it, Interlude cannot tell whether its database belongs to this Temporal.';

export function createMarks(
  connection: Connection,
  { namespace, taskQueue }: Pick<TemporalConfig, 'namespace' | 'taskQueue'>,
) {
  const { workflowService } = connection;
  const scheduleId = `interlude-installation/${taskQueue}`;
  const named = { namespace, scheduleId, identity };

  async function calling<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await connection.withDeadline(Date.now() + deadlineMs, call);
    } catch (error) {
      const { unimplemented, permissionDenied } = grpcStatus;
      const status = grpcStatusOf(error);
      if (status === unimplemented || status === permissionDenied)
        throw new NoSchedules('Temporal does not offer schedules here', { cause: error });
      throw error;
    }
  }

  return {
    scheduleId,

    /** Null if the namespace has none. Rejects while Temporal does not answer. */
    async read(): Promise<FoundMark | null> {
      try {
        const { schedule, conflictToken, info } = await calling(() =>
          workflowService.describeSchedule({ namespace, scheduleId }),
        );
        const writtenAt = info?.updateTime ?? info?.createTime;
        return {
          mark: parse(schedule?.state?.notes),
          version: conflictToken,
          writtenAt: Number(writtenAt?.seconds ?? 0) * 1_000,
        };
      } catch (error) {
        if (grpcStatusOf(error) !== grpcStatus.notFound) throw error;
        await requireNamespace();
        return null;
      }
    },

    /** Does nothing if it exists. */
    async create(mark: Mark): Promise<void> {
      try {
        await calling(() =>
          workflowService.createSchedule({ ...named, requestId: randomUUID(), schedule: toSchedule(mark) }),
        );
      } catch (error) {
        if (grpcStatusOf(error) !== grpcStatus.alreadyExists) throw error;
      }
    },

    /** Does nothing if it was written since. */
    async replace({ version }: Pick<FoundMark, 'version'>, mark: Mark): Promise<void> {
      try {
        await calling(() =>
          workflowService.updateSchedule({
            ...named,
            requestId: randomUUID(),
            schedule: toSchedule(mark),
            conflictToken: version,
          }),
        );
      } catch (error) {
        if (grpcStatusOf(error) !== grpcStatus.failedPrecondition) throw error;
      }
    },
  };

  /** A missing namespace is an error, not a missing mark. */
  async function requireNamespace(): Promise<void> {
    try {
      await calling(() => workflowService.describeNamespace({ namespace }));
    } catch (error) {
      if (grpcStatusOf(error) === grpcStatus.notFound) throw new NamespaceNotFoundError(namespace);
      if (!(error instanceof NoSchedules)) throw error;
    }
  }
}

/** An action is required, but never taken. Nothing polls that task queue. */
function toSchedule(mark: Mark) {
  const name = 'interlude-installation';
  return {
    spec: {},
    action: {
      startWorkflow: {
        workflowId: name,
        workflowType: { name },
        taskQueue: { name },
      },
    },
    state: { paused: true, notes: JSON.stringify({ ...mark, about }) },
  };
}

/** Edited notes belong to no installation. */
function parse(notes: string | null | undefined): Mark {
  try {
    const { installation, generation, token } = JSON.parse(notes ?? '') as Partial<Mark>;
    if (installation !== undefined && generation !== undefined && token !== undefined)
      return { installation, generation, token };
  } catch {}
  return { installation: 'unreadable', generation: 0, token: '' };
}
