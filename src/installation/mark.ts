/**
 * What Temporal knows of an installation: three values in the notes of a schedule that is paused and has no times. A schedule
 * is the one thing in a namespace that any client may create once and then change by compare-and-set, without a worker.
 *
 * Most servers drop a change with a stale token without an error, newer ones refuse it, so the writer reads back what counts. Each task queue has a mark of its own: deployments may share a namespace.
 */
import { randomUUID } from 'node:crypto';
import { NamespaceNotFoundError } from '@temporalio/common';
import type { Connection } from '@temporalio/client';
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
  /** When it was last written, by Temporal's clock. */
  writtenAt: number;
}

/** This Temporal has no schedules, or does not let us use them. */
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

    /** Null where the namespace has none. Rejects while Temporal does not answer. */
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

    /** Does nothing where there is one. */
    async create(mark: Mark): Promise<void> {
      try {
        await calling(() =>
          workflowService.createSchedule({ ...named, requestId: randomUUID(), schedule: toSchedule(mark) }),
        );
      } catch (error) {
        if (grpcStatusOf(error) !== grpcStatus.alreadyExists) throw error;
      }
    },

    /** Does nothing where it has been written since it was found. */
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

  /** A namespace that does not exist is not one without a mark. */
  async function requireNamespace(): Promise<void> {
    try {
      await calling(() => workflowService.describeNamespace({ namespace }));
    } catch (error) {
      if (grpcStatusOf(error) === grpcStatus.notFound) throw new NamespaceNotFoundError(namespace);
      if (!(error instanceof NoSchedules)) throw error;
    }
  }
}

/** Its action is never taken; one is required. Nothing polls that task queue. */
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

/** Notes that a person has changed are those of no installation. */
function parse(notes: string | null | undefined): Mark {
  try {
    const { installation, generation, token } = JSON.parse(notes ?? '') as Partial<Mark>;
    if (installation !== undefined && generation !== undefined && token !== undefined)
      return { installation, generation, token };
  } catch {
    // Not ours.
  }
  return { installation: 'unreadable', generation: 0, token: '' };
}
