/** The workflows of turns, as use cases see them: started, cancelled, signalled, and queried about their questions. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { Storage } from '../storage/storage.ts';
import type { ConversationRef, TurnRef } from '../turn/turn.ts';
import { elicitationQuery } from '../workflows/messages.ts';
import type { AnswerElicitation } from '../workflows/messages.ts';
import { createOpenTurns } from './open-turn.ts';
import { createPushDeliveries } from './push-deliveries.ts';
import type { PushDeliveries } from './push-deliveries.ts';
import { createStartedSlackDeliveries } from './slack/deliveries.ts';
import type { StartedSlackDeliveries } from './slack/deliveries.ts';
import { createQuestionSignals } from './question-signals.ts';
import type { Delivery } from './question-signals.ts';
import type { StartConfig } from './start-options.ts';
import { createStartWorkflow } from './start-workflow.ts';
import type { StartWorkflow } from './start-workflow.ts';
import { createTemporalClock } from './temporal-clock.ts';
import { createTemporalCalls, queryDeadlineMs } from './temporal-calls.ts';
import type { TemporalCalls } from './temporal-calls.ts';

const signalDeadlineMs = 3_500;

export interface TurnWorkflows extends Pick<TemporalCalls, 'readiness' | 'idle'> {
  start: StartWorkflow;
  /** Asks the live turn to stop; does not wait until it has. `turnId`: only if it is this one. */
  cancel(
    conversation: ConversationRef,
    turnId?: string,
  ): Promise<{ status: 'cancelling' | 'idle'; turnId?: string }>;
  /** The turn whose workflow is open right now, also when it has not begun to work yet. */
  current(conversation: ConversationRef): Promise<string | null>;
  signalAnswer(row: ElicitationRow, answer: Omit<AnswerElicitation, 'elicitationId'>): Promise<Delivery>;
  signalConnected(row: ElicitationRow, version: number): Promise<Delivery>;
  /** The page that the question sent its user to is done. */
  signalPageDone(row: ElicitationRow): Promise<Delivery>;
  /** The question as its workflow knows it; `null` when that workflow never asked it, `unknown` without an answer in time. */
  readElicitation(row: ElicitationRow): Promise<Elicitation | null | 'unknown'>;
  /** Workflows that deliver push notifications; each cancel and signal to a turn is hinted to them. */
  deliveries: PushDeliveries;
  /** The same for workflows that show answers in Slack. */
  slackDeliveries: StartedSlackDeliveries;
  resumeDeliveries(turn: TurnRef): Promise<void>;
  /** How far this process's clock is ahead of Temporal's, as last seen. */
  clockAheadMs(): number | null;
}

interface Parts {
  client: Client;
  storage: Storage;
  config: StartConfig & Pick<Config, 'a2a' | 'slack'>;
  logger: Logger;
}

export function createTurnWorkflows({ client, storage, config, logger }: Parts): TurnWorkflows {
  const calls = createTemporalCalls({ client, config, storage, logger });
  const { within, readiness, idle } = calls;
  const clock = createTemporalClock(calls, logger);
  const openTurns = createOpenTurns(client, storage);
  const { openTurn } = openTurns;
  const deliveries = createPushDeliveries({ client, calls, storage, config, logger });
  const slackDeliveries = createStartedSlackDeliveries({ client, calls, storage, config, logger });
  const hint = (turn: Omit<TurnRef, 'delegation'>) => {
    deliveries.hint(turn);
    slackDeliveries.hint(turn);
  };
  const signals = createQuestionSignals(client, (call) => within(signalDeadlineMs, call));

  /** Any failure of a call to Temporal is a 503. A call that timed out may have arrived; all calls here may be repeated. */
  async function orUnavailable<T>(calling: Promise<T>): Promise<T> {
    try {
      return await calling;
    } catch (error) {
      throw await calls.unavailable(
        error,
        'It may have arrived nevertheless; sending the same again does no harm.',
      );
    }
  }

  async function deliver(row: ElicitationRow, signal: Promise<Delivery>): Promise<Delivery> {
    const delivery = await orUnavailable(signal);
    hint(row);
    return delivery;
  }

  /** False when the workflow has ended or does not exist. */
  async function stop(handle: WorkflowHandle): Promise<boolean> {
    try {
      await within(signalDeadlineMs, () => handle.cancel());
      return true;
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  return {
    start: createStartWorkflow({
      client,
      calls,
      clock,
      openTurns,
      storage,
      config,
      onLeaving: hint,
      logger,
    }),
    async cancel(conversation, turnId) {
      const running = await storage.turns.live(conversation);
      const open = await orUnavailable(within(queryDeadlineMs, () => openTurn(conversation)));
      const isMeant = (id: string) => turnId === undefined || id === turnId;
      if (running?.buildId === null && isMeant(running.turnId)) {
        // No worker of this release runs it, so it cannot end itself.
        await storage.turns.end(running, 'cancelled');
        if (open.kind === 'live' && open.turnId === running.turnId)
          await orUnavailable(within(signalDeadlineMs, () => open.handle.terminate('cancelled by its user')));
        hint(running);
        return { status: 'cancelling', turnId: running.turnId };
      }
      if (open.kind === 'live' && isMeant(open.turnId)) {
        if (await orUnavailable(stop(open.handle))) {
          hint({ ...conversation, turnId: open.turnId });
          return { status: 'cancelling', turnId: open.turnId };
        }
      }
      // Ended from outside (terminated, timed out), its workflow could not write the end itself; otherwise a no-op.
      if (running && isMeant(running.turnId)) await storage.turns.end(running, 'cancelled');
      return { status: 'idle' };
    },
    async current(conversation) {
      const running = await storage.turns.live(conversation);
      if (running) return running.turnId;
      const open = await within(queryDeadlineMs, () => openTurn(conversation)).catch(() => null);
      return open?.kind === 'live' ? open.turnId : null;
    },
    signalAnswer: (row, answer) =>
      deliver(row, signals.answered(row.workflowId, { elicitationId: row.id, ...answer })),
    async signalConnected(row, version) {
      const { workflowId, server } = row;
      return server === null ? 'delivered' : deliver(row, signals.connected(workflowId, { server, version }));
    },
    signalPageDone: (row) =>
      deliver(row, signals.updated(row.workflowId, { elicitationIds: [row.id], news: 'page_done' })),
    async readElicitation({ workflowId, id }) {
      try {
        return await within(queryDeadlineMs, () =>
          client.workflow.getHandle(workflowId).query(elicitationQuery, id),
        );
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return null;
        logger.warn({ err: error, elicitationId: id }, 'no worker answered the query about a question');
        return 'unknown';
      }
    },
    deliveries,
    slackDeliveries,
    async resumeDeliveries(turn) {
      await Promise.all([deliveries.resume(turn), slackDeliveries.resume(turn)]);
    },
    clockAheadMs: clock.aheadMs,
    readiness,
    idle,
  };
}
