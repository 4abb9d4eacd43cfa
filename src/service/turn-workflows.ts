/**
 * The workflows of turns: starting, stopping and telling them.
 *
 * A turn is either running or its caller was told that it is not: it is prepared in the database first, then
 * started, and withdrawn again when the start cannot be confirmed. A workflow whose turn was withdrawn finds
 * that out before it does anything.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { Elicitation } from '../elicitation/lifecycle.ts';
import type { ElicitationRow } from '../storage/ports/elicitations.ts';
import type { NewTurn, TurnRow } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import { wordsOf } from '../turn/page-context.ts';
import type { ConversationRef, TurnRef } from '../turn/turn.ts';
import {
  agentTurnWorkflow,
  answerElicitation,
  connectionEstablished,
  elicitationQuery,
} from '../workflows/messages.ts';
import type { AnswerElicitation } from '../workflows/messages.ts';
import { ServiceError } from './service-error.ts';
import { createOpenTurns } from './open-turn.ts';
import type { OnBusy } from './open-turn.ts';
import { startOptions } from './start-options.ts';
import type { StartConfig } from './start-options.ts';
import { createTemporalReadiness } from './temporal-readiness.ts';
import type { TemporalReadiness } from './temporal-readiness.ts';
import { isOfTemporal, wasAnswered } from './temporal-errors.ts';

// The client's own retries may overrun a deadline by a second; callers are answered within five.
const startDeadlineMs = 3_500;
/** For a start that waits for a turn that is ending, which waits for its calls for two seconds at most. */
const stopAndStartDeadlineMs = 10_000;
const signalDeadlineMs = 3_500;
const queryDeadlineMs = 2_000;
/** How long another request with the same message is left to start the turn that it prepared. */
const otherRequestMs = 1_000;
/** Left of the start's deadline when a turn that is to make room has not: enough to say so. */
const marginMs = 500;
/** About what a workflow takes from writing its turn's end to closing. */
const closingMs = 20;

type Start =
  | { kind: 'started'; turn: TurnRef }
  /** The same client message again: this is the turn it started the first time. */
  | { kind: 'joined'; turn: TurnRef }
  | { kind: 'busy'; turnId: string; isEnding: boolean }
  | { kind: 'foreign-conversation' }
  /** The client's message id belongs to a message with other words. */
  | { kind: 'other-message' };

export interface TurnWorkflows {
  /**
   * A live turn that only waits for a person makes room for this one; `onBusy` says what to do with one that is at
   * work. `busy` and `isEnding`: it makes room, or has been asked to stop, and has not ended in time.
   */
  start(turn: NewTurn, onBusy: OnBusy): Promise<Start>;
  /** Asks the live turn to stop; does not wait until it has. */
  cancel(conversation: ConversationRef): Promise<{ status: 'cancelling' | 'idle'; turnId?: string }>;
  /** The turn whose workflow is open right now, also when it has not begun to work yet. */
  current(conversation: ConversationRef): Promise<string | null>;
  /** `gone`: the workflow that asked has ended. */
  tellAnswer(row: ElicitationRow, answer: Omit<AnswerElicitation, 'elicitationId'>): Promise<'told' | 'gone'>;
  tellConnected(row: ElicitationRow, version: number): Promise<'told' | 'gone'>;
  /** The question as its workflow knows it; `null` when that workflow never asked it, `unknown` without an answer in time. */
  readElicitation(row: ElicitationRow): Promise<Elicitation | null | 'unknown'>;
  readiness: TemporalReadiness;
  /** Resolves when no call is under way. Closing the connection under a call that is being retried crashes the process. */
  idle(): Promise<void>;
}

interface Parts {
  client: Client;
  storage: Storage;
  config: StartConfig;
  logger: Logger;
}

export function createTurnWorkflows({ client, storage, config, logger }: Parts): TurnWorkflows {
  const underWay = new Set<Promise<unknown>>();
  const within = <T>(ms: number, call: () => Promise<T>): Promise<T> => {
    const calling = client.withDeadline(Date.now() + ms, call);
    underWay.add(calling);
    const over = () => underWay.delete(calling);
    calling.then(over, over);
    return calling;
  };
  const readiness = createTemporalReadiness(client, config.temporal);
  const { openTurn, makeRoom, stillLeaves } = createOpenTurns(client, storage.turns);

  async function start(turn: NewTurn, onBusy: OnBusy): Promise<Start> {
    const claim = await claimMessage(turn);
    if (claim.kind !== 'to-start') return claim;
    const next = claim.turn;
    try {
      return await startWorkflow(next, onBusy);
    } catch (error) {
      logger.warn({ err: error, turnId: next.turnId }, 'a turn could not be started');
      if (!(await storage.turns.withdraw(next))) return { kind: 'started', turn: refOf(next) };
      throw await unavailable(error, 'The turn was not started.');
    }
  }

  /** One turn per client message: the given one, or the one that an earlier request with this message prepared. */
  async function claimMessage(turn: NewTurn): Promise<Start | { kind: 'to-start'; turn: NewTurn }> {
    const prepared = await storage.turns.prepare(turn);
    if (prepared === 'prepared') return { kind: 'to-start', turn };
    if (prepared === 'foreign-conversation') return { kind: prepared };
    const earlier = await earlierTurn(turn);
    if (!earlier) return claimMessage(turn);
    if (!(await saysTheSame(turn, earlier))) return { kind: 'other-message' };
    if (earlier.status !== 'starting') return { kind: 'joined', turn: refOf(earlier) };
    // The request that prepared it has died, or is slow: starting the same turn twice is harmless.
    return { kind: 'to-start', turn: { ...earlier, messages: [] } };
  }

  /** The turn that another request prepared for this message, once that has started it; null when it was withdrawn. */
  async function earlierTurn(turn: NewTurn): Promise<TurnRow | null> {
    const deadline = Date.now() + otherRequestMs;
    for (;;) {
      const earlier = await storage.turns.byClientMessage(turn, turn.clientMessageId);
      if (earlier?.status !== 'starting' || Date.now() > deadline) return earlier;
      await delay(closingMs);
    }
  }

  /** Whether it is the earlier turn's message that is sent again. */
  async function saysTheSame(turn: NewTurn, earlier: TurnRow) {
    const before = await storage.turns.given(earlier);
    const now = turn.messages.at(-1)?.content;
    return before === null || now === undefined || wordsOf(before) === wordsOf(now);
  }

  async function startWorkflow(turn: NewTurn, onBusy: OnBusy): Promise<Start> {
    const begunAt = Date.now();
    let deadline = begunAt + startDeadlineMs;
    const inTime = <T>(call: () => Promise<T>): Promise<T> => within(deadline - Date.now(), call);
    const leaving = new Set<string>();
    for (;;) {
      try {
        await inTime(() => client.workflow.start(agentTurnWorkflow, startOptions(turn, config)));
        return { kind: 'started', turn: refOf(turn) };
      } catch (error) {
        if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      }
      const open = await inTime(() => openTurn(turn));
      if (open.kind === 'live') {
        if (open.turnId === turn.turnId) return { kind: 'started', turn: refOf(turn) };
        const leaves = leaving.has(open.turnId) ? stillLeaves : makeRoom;
        const outlook = await inTime(() => leaves(open, onBusy));
        // Its questions are closed by now: to refuse the message that closed them would leave its sender with nothing.
        if (outlook === 'yes') deadline = begunAt + stopAndStartDeadlineMs;
        if (outlook === 'no' || Date.now() > deadline - marginMs) {
          await storage.turns.withdraw(turn);
          return { kind: 'busy', turnId: open.turnId, isEnding: outlook === 'yes' };
        }
        leaving.add(open.turnId);
      }
      // Who read a turn's end may go on at once. The deadline bounds the tries.
      await delay(closingMs);
    }
  }

  /** Trouble with Temporal reads as 503, and says which; anything else stays what it is. */
  async function unavailable(error: unknown, consequence: string): Promise<unknown> {
    if (!isOfTemporal(error)) return error;
    const lack = wasAnswered(error)
      ? await within(queryDeadlineMs, readiness.namespace).catch(() => null)
      : null;
    if (lack !== null) logger.error(`turns cannot start: ${lack}`);
    const detail =
      lack === null
        ? `The workflow engine cannot be reached. ${consequence} Try again in a few seconds.`
        : `The workflow engine is not set up yet. ${consequence} The operator reads at /readyz what is missing.`;
    return new ServiceError('unavailable', detail, { retryAfterMs: 5_000, cause: error });
  }

  /** `gone` when the addressed workflow is closed or forgotten; any other failure is a 503. */
  async function deliver(message: () => Promise<void>): Promise<'told' | 'gone'> {
    try {
      await within(signalDeadlineMs, message);
      return 'told';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return 'gone';
      throw await unavailable(error, 'Nothing was changed.');
    }
  }

  return {
    start,
    async cancel(conversation) {
      const running = await storage.turns.live(conversation);
      const open = await within(queryDeadlineMs, () => openTurn(conversation)).catch(
        async (error: unknown) => {
          throw await unavailable(error, 'Nothing was changed.');
        },
      );
      if (open.kind === 'live') {
        const { handle, turnId } = open;
        const told = await deliver(async () => void (await handle.cancel()));
        if (told === 'told') return { status: 'cancelling', turnId };
      }
      // Ended from outside (terminated, timed out), its workflow could not write the end itself; otherwise a no-op.
      if (running) await storage.turns.end(running, 'cancelled');
      return { status: 'idle' };
    },
    async current(conversation) {
      const running = await storage.turns.live(conversation);
      if (running) return running.turnId;
      const open = await within(queryDeadlineMs, () => openTurn(conversation)).catch(() => null);
      return open?.kind === 'live' ? open.turnId : null;
    },
    tellAnswer: (row, answer) =>
      deliver(() =>
        client.workflow
          .getHandle(row.workflowId)
          .signal(answerElicitation, { elicitationId: row.id, ...answer }),
      ),
    tellConnected: (row, version) =>
      deliver(async () => {
        if (row.server === null) return;
        await client.workflow
          .getHandle(row.workflowId)
          .signal(connectionEstablished, { server: row.server, version });
      }),
    async readElicitation(row) {
      try {
        return await within(queryDeadlineMs, () =>
          client.workflow.getHandle(row.workflowId).query(elicitationQuery, row.id),
        );
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return null;
        logger.warn({ err: error, elicitationId: row.id }, 'no worker said what became of an answer');
        return 'unknown';
      }
    },
    readiness: {
      namespace: () => within(queryDeadlineMs, readiness.namespace),
      workers: () => within(queryDeadlineMs, readiness.workers),
    },
    async idle() {
      await Promise.allSettled(underWay);
    },
  };
}

function refOf({ tenant, conversation, turnId }: TurnRef): TurnRef {
  return { tenant, conversation, turnId };
}
