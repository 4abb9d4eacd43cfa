/** The turn that a conversation is busy with, as Temporal knows it, and how it makes room for another. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { Turns } from '../storage/ports/turns.ts';
import type { ConversationRef } from '../turn/turn.ts';
import { supersede, turnQuery, turnWorkflowId } from '../workflows/messages.ts';

/** What becomes of a turn that is at work when the next message comes. */
export type OnBusy = 'refuse' | 'cancel';

/**
 * `closing`: the turn's end is on record, its workflow is about to follow. `abandoned`: it ended some time ago, or was
 * withdrawn, so that its workflow has nothing left to do, and no worker lets it find that out.
 */
export type OpenTurn =
  | { kind: 'none' | 'closing' }
  | { kind: 'abandoned'; terminate: () => Promise<void> }
  | {
      kind: 'live';
      turnId: string;
      /** On record: it stops what it does, and its end follows. */
      isEnding: boolean;
      /** This run, and none that may follow it under the same workflow id. */
      handle: WorkflowHandle;
    };

export type LiveTurn = Extract<OpenTurn, { kind: 'live' }>;

/** Whether it is about to end. `unknown`: no worker says so, and it will be seen. */
export type Leaving = 'yes' | 'no' | 'unknown';

const reportDeadlineMs = 1_000;
/** Longer than a workflow with a worker takes from writing its turn's end to closing. */
const longestClosingMs = 10_000;

interface OpenTurnsStorage {
  turns: Pick<Turns, 'get'>;
  now(): number;
}

export type OpenTurns = ReturnType<typeof createOpenTurns>;

export function createOpenTurns(client: Client, { turns, now }: OpenTurnsStorage) {
  /** What Temporal runs for this conversation, and whether that has already ended as far as anybody can see. */
  async function openTurn({ tenant, conversation }: ConversationRef): Promise<OpenTurn> {
    const run = await openRun({ tenant, conversation });
    if (!run) return { kind: 'none' };
    const { turnId, handle } = run;
    const row = await turns.get({ tenant, conversation, turnId });
    if (!row || (row.endedAt !== null && row.endedAt < now() - longestClosingMs))
      return { kind: 'abandoned', terminate: () => terminate(handle) };
    if (row.endedAt !== null) return { kind: 'closing' };
    return { kind: 'live', turnId, isEnding: row.endingAt !== null, handle };
  }

  async function terminate(handle: WorkflowHandle): Promise<void> {
    try {
      await handle.terminate('its turn has ended');
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }

  async function openRun(conversation: ConversationRef) {
    const workflowId = turnWorkflowId(conversation);
    try {
      const { status, memo, runId } = await client.workflow.getHandle(workflowId).describe();
      const turnId = memo?.['turnId'];
      if (status.name !== 'RUNNING' || typeof turnId !== 'string') return null;
      return { turnId, handle: client.workflow.getHandle(workflowId, runId) };
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return null;
      throw error;
    }
  }

  /**
   * Whether the turn is about to end, for all that is known. That it only waits for a person is for its workflow to say,
   * until `until` (epoch milliseconds): one that reads the signal later goes on.
   */
  async function makeRoom(
    { handle, isEnding }: LiveTurn,
    { onBusy, until }: { onBusy: OnBusy; until: number },
  ): Promise<Leaving> {
    if (isEnding) return 'yes';
    try {
      if (onBusy === 'cancel') {
        await handle.cancel();
        return 'yes';
      }
      await handle.signal(supersede, { until });
      return await isLeaving(handle);
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'yes';
      throw error;
    }
  }

  /** Whether a turn that was about to end still is: one whose delegated agent was just given its answer goes on. */
  async function stillLeaves(
    { handle, isEnding }: LiveTurn,
    { onBusy }: { onBusy: OnBusy },
  ): Promise<Leaving> {
    return isEnding || onBusy === 'cancel' ? 'yes' : isLeaving(handle);
  }

  async function isLeaving(handle: WorkflowHandle): Promise<Leaving> {
    const report = () => handle.query(turnQuery);
    try {
      const { phase } = await client.withDeadline(Date.now() + reportDeadlineMs, report);
      return phase === 'ending' || phase === 'ended' ? 'yes' : 'no';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'yes';
      if (error instanceof ServiceError) return 'unknown';
      throw error;
    }
  }

  return { openTurn, makeRoom, stillLeaves };
}
