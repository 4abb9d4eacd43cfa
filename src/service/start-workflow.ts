/**
 * Starts a turn, at most once for each message. First its row is prepared, in the transaction that also makes room for it;
 * then its workflow is started. If Temporal refuses the start, the turn is withdrawn at once. If it is unknown whether
 * Temporal accepted the start, the turn stays prepared: the same message sent again joins it under the same workflow id, and
 * the reconciler ends it if there is no such workflow. A workflow checks first whether its turn was withdrawn or has ended.
 * While Temporal cannot be reached, no turn makes room, because it would end for a message that is then refused.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Logger } from 'pino';
import type { NewTurn, Replacing, StartLimits } from '../storage/tables/turn-lifecycle.ts';
import type { TurnRow } from '../storage/tables/turn-rows.ts';
import { routedByTemporal } from '../storage/tables/versions.ts';
import type { Storage } from '../storage/storage.ts';
import { aboutTurn, collectingCalls } from '../platform/telemetry/events.ts';
import type { UnfinishedCall } from '../platform/telemetry/events.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import { wordsOf } from '../turn/message-parts.ts';
import type { TurnRef } from '../turn/turn.ts';
import { agentTurnWorkflow, turnWorkflowId, searchAttributes, taskTimeouts } from '../workflows/messages.ts';
import { afterEnd } from './end-turn.ts';
import type { TemporalCalls, TemporalClock } from './temporal-calls.ts';
import { isOfTemporal, wasRefused } from './temporal-errors.ts';
import type { Config } from '../platform/config/config.ts';
import { pinnedTo } from '../platform/temporal/deployment.ts';
import type { TurnInput } from '../workflows/messages.ts';

// The client's retries can overrun a deadline by a second. Callers get a response within five seconds, or within ten while
// the previous turn is ending.
const startDeadlineMs = 3_500;
/** How long a message waits for the end of a turn that was asked to stop. */
const endingMs = 5_000;
const endingPauseMs = 50;
/** After this time, the start of a turn counts as lost. */
const unstartedMs = 6_000;
const describeDeadlineMs = 2_000;
/** How long another request with the same message may take to start the turn that it prepared. */
const otherRequestMs = 1_000;
const otherRequestPauseMs = 20;

type Start =
  | { kind: 'started'; turn: TurnRef }
  /** The same client message again: the turn that it started the first time. */
  | { kind: 'joined'; turn: TurnRef }
  | { kind: 'busy'; turnId: string; isEnding: boolean }
  | { kind: 'foreign-conversation' }
  /** No worker has ever started: there is no code to start a turn with. */
  | { kind: 'no-version' }
  /** The client's message id was used for a different message. */
  | { kind: 'other-message' }
  | { kind: 'too-many-turns' | 'tokens-spent'; of: 'user' | 'tenant' };

interface Parts {
  client: Client;
  calls: Pick<TemporalCalls, 'within' | 'unavailable'>;
  clock: Pick<TemporalClock, 'whileStarting'>;
  storage: Storage;
  config: StartConfig;
  startsHere: ((buildId: string) => boolean) | undefined;
  logger: Logger;
}

type StartParts = Pick<Parts, 'client' | 'calls' | 'storage' | 'config' | 'logger'>;

/**
 * A live turn that only waits for people makes room for this one; `onBusy` decides about one that is at work. `busy` and
 * `isEnding`: it was asked to stop and has not ended in time.
 */
export type StartWorkflow = (turn: NewTurn, how: StartRequest) => Promise<Start>;

interface StartRequest {
  onBusy: Replacing['onBusy'];
  /** Whether the caller can send the same message again under the same id, and so join the turn. */
  isRepeatable: boolean;
  limits: StartLimits;
}

const unknownOutcome =
  'It is not known whether the turn has started. To send the same message again, under the same id, does no harm: it joins that turn.';

export function createStartWorkflow(parts: Parts): StartWorkflow {
  const { client, calls, clock, storage, config, startsHere, logger } = parts;

  return async (turn, how) => {
    const claim = await claimMessage(parts, turn, how);
    if (claim.kind !== 'to-start') return claim;
    const { turn: next, buildId } = claim;
    try {
      await startWorkflow(next, buildId);
      return { kind: 'started', turn: next };
    } catch (error) {
      logger.warn({ err: error, ...aboutTurn(next) }, 'a turn could not be started');
      // An earlier request with this message may have started it.
      const mayRun = claim.isRepeat || (isOfTemporal(error) && !wasRefused(error));
      const isKept = mayRun && how.isRepeatable;
      if (isKept ? await hasBegun(next) : !(await storage.turns.withdraw(next)))
        return { kind: 'started', turn: next };
      throw await calls.unavailable(error, isKept ? unknownOutcome : 'The turn was not started.');
    }
  };

  async function hasBegun(turn: NewTurn): Promise<boolean> {
    return (await storage.turns.get(turn))?.status === 'running';
  }

  async function startWorkflow(turn: NewTurn, buildId: string): Promise<void> {
    const options = {
      ...startOptions(turn, { buildId, config }),
      ...(startsHere?.(buildId) && { requestEagerStart: true }),
    };
    try {
      await clock.whileStarting(() =>
        calls.within(startDeadlineMs, () => client.workflow.start(agentTurnWorkflow, options)),
      );
    } catch (error) {
      // The id is the turn's own.
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}

/** One turn per client message: the given one, or the one that an earlier request with this message prepared. */
async function claimMessage(
  parts: StartParts,
  turn: NewTurn,
  { onBusy, limits }: StartRequest,
): Promise<Start | { kind: 'to-start'; turn: NewTurn; buildId: string; isRepeat: boolean }> {
  const { storage, config } = parts;
  let unfinished: Iterable<UnfinishedCall> = [];
  let isTemporalReached = false;
  const replacing: Replacing = {
    onBusy,
    resultOf(live, status) {
      if (!isTemporalReached) throw new MakesRoom(live);
      const collecting = collectingCalls(unfinishedCallResult(live, status));
      ({ unfinished } = collecting);
      return collecting.resultOf;
    },
  };
  const deadline = performance.now() + endingMs;
  for (;;) {
    const prepared = await storage.turns
      .prepare(turn, replacing, config.temporal.deployment.name, limits)
      .catch(async (error: unknown) => {
        if (!(error instanceof MakesRoom)) throw error;
        const consequence = 'The turn was not started, and the one before it goes on.';
        await isAtTemporal(parts, error.live).catch(async (failure: unknown) => {
          throw await parts.calls.unavailable(failure, consequence);
        });
        isTemporalReached = true;
      });
    if (!prepared) continue;
    switch (prepared.kind) {
      case 'prepared': {
        if (prepared.replaced) afterReplacing(parts, prepared.replaced, unfinished);
        return { kind: 'to-start', turn, buildId: prepared.buildId, isRepeat: false };
      }
      case 'busy':
        if (await withdrawUnstarted(parts, { ...turn, turnId: prepared.turnId })) continue;
        if (!prepared.isEnding || performance.now() > deadline) return prepared;
        await delay(endingPauseMs);
        continue;
      case 'known': {
        const earlier = await earlierTurn(storage, turn);
        // It was withdrawn since.
        if (!earlier) continue;
        if (!(await saysTheSame(storage, turn, earlier))) return { kind: 'other-message' };
        if (earlier.status !== 'starting') return { kind: 'joined', turn: earlier };
        // The request that prepared it has died, is slow, or does not know the result: starting the same turn twice is
        // harmless.
        const buildId = earlier.buildId ?? routedByTemporal;
        return { kind: 'to-start', turn: { ...earlier, messages: [] }, buildId, isRepeat: true };
      }
      case 'foreign-conversation':
      case 'no-version':
      case 'too-many-turns':
      case 'tokens-spent':
        return prepared;
      default:
        return prepared satisfies never;
    }
  }
}

/** Thrown before anything is written: the live turn would end to make room. */
class MakesRoom extends Error {
  override name = 'MakesRoom';
  readonly live: TurnRef;
  constructor(live: TurnRef) {
    super('another turn makes room');
    this.live = live;
  }
}

/** Whether Temporal has the turn's workflow. Rejects if Temporal does not respond. */
async function isAtTemporal(
  { client, calls }: Pick<Parts, 'client' | 'calls'>,
  turn: TurnRef,
): Promise<boolean> {
  try {
    await calls.within(describeDeadlineMs, () => client.workflow.getHandle(turnWorkflowId(turn)).describe());
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/**
 * Withdraws a turn whose start has not reached Temporal in time. If its workflow starts after all, it finds that the turn was
 * withdrawn.
 */
async function withdrawUnstarted(parts: StartParts, turn: TurnRef): Promise<boolean> {
  const { storage } = parts;
  const row = await storage.turns.get(turn);
  if (row?.status !== 'starting' || storage.now() - row.createdAt < unstartedMs) return false;
  const mayRun = await isAtTemporal(parts, turn).catch(() => true);
  return !mayRun && storage.turns.withdraw(turn);
}

function afterReplacing(
  parts: Pick<Parts, 'storage' | 'logger'>,
  turn: TurnRow,
  unfinished: Iterable<UnfinishedCall>,
): void {
  const { status, createdAt: startedAt } = turn;
  if (status !== 'starting' && status !== 'running')
    afterEnd(parts, turn, { status, code: undefined, startedAt, unfinished });
}

/** Waits until the request that prepared this message's turn has started it. Null when the turn was withdrawn. */
async function earlierTurn(storage: Storage, turn: NewTurn): Promise<TurnRow | null> {
  const deadline = performance.now() + otherRequestMs;
  for (;;) {
    const earlier = await storage.turns.byClientMessage(turn, turn.clientMessageId);
    if (earlier?.status !== 'starting' || performance.now() > deadline) return earlier;
    await delay(otherRequestPauseMs);
  }
}

/** Whether both have the same message. */
async function saysTheSame(storage: Storage, turn: NewTurn, earlier: TurnRow): Promise<boolean> {
  const before = await storage.turns.given(earlier);
  const now = turn.messages.at(-1)?.content;
  return before === null || now === undefined || wordsOf(before) === wordsOf(now);
}

export type StartConfig = Pick<Config, 'agents' | 'servers' | 'elicitation' | 'turn' | 'temporal'>;

/**
 * How a turn's workflow is started, and with which version of its code. Ids and limits only: operators read all of this, and
 * histories keep it.
 */
export function startOptions(
  turn: NewTurn,
  { buildId, config, attemptsBefore }: { buildId: string; config: StartConfig; attemptsBefore?: number },
): WorkflowStartOptions {
  const { tenant, conversation, turnId, user, capabilities, hops } = turn;
  const agent = config.agents.get(turn.agent);
  const limits = {
    maxSteps: agent?.maxSteps ?? 20,
    elicitationTimeoutMs: config.elicitation.timeoutMs,
    toolCallMs: toolCallMs(config),
  };
  const input: TurnInput = {
    tenant,
    conversation,
    turnId,
    agent: turn.agent,
    user,
    capabilities,
    limits,
    ...(hops !== undefined && { hops }),
    ...(attemptsBefore !== undefined && { attemptsBefore }),
  };
  return {
    workflowId: turnWorkflowId(turn),
    workflowIdConflictPolicy: 'FAIL',
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    ...pinnedTo(config.temporal, buildId),
    taskQueue: config.temporal.taskQueue,
    // The turn's row limits its duration (see the reconciler); this is for a workflow that does not react to that.
    workflowExecutionTimeout: 2 * config.turn.timeoutMs + 60 * 60_000,
    workflowTaskTimeout: taskTimeouts.workflowTask,
    priority: { fairnessKey: fairnessKeyOf(tenant) },
    args: [input],
    memo: { turnId },
    typedSearchAttributes: [
      { key: searchAttributes.agent, value: turn.agent },
      { key: searchAttributes.conversation, value: conversation },
      ...(user === null ? [] : [{ key: searchAttributes.user, value: user }]),
      { key: searchAttributes.rootTurn, value: turnId },
    ],
    staticSummary: `${agent?.title ?? turn.agent} for ${user ?? 'a service'}`,
    staticDetails: `Turn \`${turnId}\` of conversation \`${conversation}\``,
  };
}

/** Queued turns of tenants begin alternately where Temporal's server has fairness on. The server refuses keys of more than 64 bytes. */
function fairnessKeyOf(tenant: string): string {
  return createHash('sha256').update(tenant).digest('base64url');
}

/** For what a call needs besides its server's time: credentials, lists, a busy database. */
const marginMs = 5 * 60_000;

/** The longest duration of a call at any server: every round that it may ask, with the time that people have to answer. */
function toolCallMs({ servers, elicitation }: Pick<Config, 'servers' | 'elicitation'>): number {
  const longest = [...servers.values()].map(
    ({ maxRounds, timeout }) => (maxRounds + 1) * (elicitation.timeoutMs + timeout),
  );
  return Math.max(0, ...longest) + marginMs;
}
