/**
 * Delivers the outbox: what transactions have decided and Temporal or servers do not know yet. Marks come from the commits of
 * this process, and from a leased loop over those that are due because a burst, a command, a dead process or a failed attempt
 * has left them. A signal is a hint to read the rows, so delivering a mark twice does no harm.
 */
import { performance } from 'node:perf_hooks';
import type { Client, WorkflowHandle } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Logger } from 'pino';
import { startLeasedLoop } from '../storage/leased-loop.ts';
import type { QuestionObserver, OutboxObserver } from '../storage/database.ts';
import type { Mark } from '../storage/schema/question-tables.ts';
import type { Storage } from '../storage/storage.ts';
import type { TurnRef } from '../turn/turn.ts';
import { questionsSettled } from '../workflows/messages.ts';
import { createForgetHistories } from './forget-histories.ts';
import { isOfTemporal, wasAnswered } from './temporal-errors.ts';

/** Limits of signals and cancellations, and of abandoned turns. More at once make a burst slower. */
const atOnce = 16;
/** Temporal deletes histories slowly, and lists few at a time. */
const forgottenAtOnce = 4;
const everyMs = 500;
/** A claimed mark that is not delivered, because its process died or Temporal is away, is due again after this. */
const leaseMs = 5_000;
const deadlineMs = 3_500;
/** Marks delivered within this time are deleted by one statement. */
const collectMs = 5;
/** Above this event-loop utilization a process holds its marks back. */
const busy = { utilization: 0.9, everyMs: 25 };
/** The longest time that it holds them. */
const longestHoldMs = 1_000;

class StillThere extends Error {
  override name = 'StillThere';
}

interface Parts {
  client: Client;
  storage: Pick<Storage, 'outbox' | 'turns' | 'elicitations'>;
  /** Notifies servers that keep calls of the ended turn open. */
  abandonCalls(turn: TurnRef): Promise<void>;
  /** Called when a workflow of the turn has been notified. */
  onSent(turn: TurnRef): void;
  /** Logs, counts and traces what commands have settled. */
  questions: Pick<QuestionObserver, 'settled'>;
  /** Absent: this process does not check whether database and Temporal belong together. */
  installation?: { isTogether(): boolean } | undefined;
  logger: Logger;
}

interface OutboxSender {
  deliver: OutboxObserver;
  /** Resolves when nothing is under way any more. Other processes deliver the rest. */
  stop(): Promise<void>;
}

export function startOutbox({
  client,
  storage,
  abandonCalls,
  onSent,
  questions,
  installation,
  logger,
}: Parts): OutboxSender {
  const { outbox, turns, elicitations } = storage;
  const isTogether = () => installation?.isTogether() ?? true;
  const delivered = createCollector(async (ids) => {
    await outbox.done(ids).catch((err: unknown) => logger.warn({ err }, 'delivered marks are sent again'));
  });
  const signals = createLane(attempt);
  // Two lanes, so that what is slow does not delay signals.
  const slow = createLane(attempt);
  const laneOf = ({ kind }: Mark) => (kind === 'abandon' || kind === 'forget' ? slow : signals);

  async function attempt(marks: Mark[]): Promise<void> {
    const ids = marks.map(({ id }) => id);
    try {
      await send(marks);
      delivered.add(ids);
    } catch (err) {
      logger.debug({ err, marks: ids.length }, 'a workflow could not be notified yet; it is tried again');
      // While Temporal is away, the lease alone delays the next attempt.
      if (isOfTemporal(err) && !wasAnswered(err)) return;
      await outbox.failed(ids).catch((cause: unknown) => logger.warn({ err: cause }, 'a mark is sent again'));
    }
  }

  async function send(marks: Mark[]): Promise<void> {
    const [first] = marks;
    if (!first) return;
    switch (first.kind) {
      case 'settled': {
        const elicitationIds = marks.flatMap((mark) => (mark.kind === 'settled' ? [mark.elicitationId] : []));
        return reach(first, (workflow) => workflow.signal(questionsSettled, { elicitationIds }));
      }
      case 'cancel':
        return reach(first, (workflow) => stop(workflow, first.turn));
      case 'abandon':
        return abandonCalls(first.turn);
      case 'report':
        return report(first.elicitationId);
      case 'forget':
        return forget(first);
      default:
        return first satisfies never;
    }
  }

  const forgetHistories = createForgetHistories(client, logger);

  /** Temporal deletes in the background: tried again until nothing is found. */
  async function forget(mark: Mark & { kind: 'forget' }): Promise<void> {
    const found = await within(() => forgetHistories(mark));
    if (found > 0) throw new StillThere(`Temporal deletes ${found} histories of an erased turn`);
  }

  async function report(elicitationId: string): Promise<void> {
    const question = await elicitations.get(elicitationId);
    if (question) questions.settled(question);
  }

  /** No worker runs a turn without a version, so nothing would react to a cancellation. */
  async function stop(workflow: WorkflowHandle, turn: TurnRef): Promise<void> {
    const row = await turns.get(turn);
    await (row?.buildId === null ? workflow.terminate('its turn has ended') : workflow.cancel());
  }

  async function reach(
    { workflowId, turn }: { workflowId: string; turn: TurnRef },
    message: (workflow: WorkflowHandle) => Promise<void>,
  ): Promise<void> {
    const workflow = client.workflow.getHandle(workflowId);
    try {
      await within(() => message(workflow));
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError) || !(await isOver(workflow, turn))) throw error;
    }
    onSent(turn);
  }

  /**
   * A signal that is refused does not prove it: a server that is starting refuses signals too, and so does a workflow between
   * two runs.
   */
  async function isOver(workflow: WorkflowHandle, turn: TurnRef): Promise<boolean> {
    try {
      const { status } = await within(() => workflow.describe());
      return status.name !== 'RUNNING' && status.name !== 'PAUSED';
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      const row = await turns.get(turn);
      return !row || row.endedAt !== null;
    }
  }

  function within<T>(call: () => Promise<T>): Promise<T> {
    return client.withDeadline(Date.now() + deadlineMs, call);
  }

  const loops = (['others', 'forget'] as const).map((which) =>
    startLeasedLoop<Mark>(
      {
        name: `outbox: ${which}`,
        everyMs: which === 'forget' ? 4 * everyMs : everyMs,
        atOnce: which === 'forget' ? forgottenAtOnce : atOnce,
        claim: async (free) => (isTogether() ? outbox.claim(free, leaseMs, which) : []),
        work: (mark) => laneOf(mark).add(mark),
      },
      logger,
    ),
  );

  const deliver = holdWhileBusy((marks) => {
    if (!isTogether()) return;
    for (const mark of marks) void laneOf(mark).add(mark);
  });

  return {
    deliver,
    async stop() {
      await Promise.all([signals.stop(), slow.stop(), ...loops.map((loop) => loop.stop())]);
      await delivered.flush();
    },
  };
}

/**
 * At most `atOnce` deliveries are under way, one at a time for each receiver. Marks that come meanwhile for the same receiver
 * are delivered together.
 */
function createLane(attempt: (marks: Mark[]) => Promise<void>) {
  interface Delivery {
    marks: Mark[];
    over: PromiseWithResolvers<void>;
  }
  const waiting = new Map<string, Delivery>();
  const underWay = new Map<string, Promise<void>>();
  let isStopping = false;

  function next(): void {
    for (const [receiver, { marks, over }] of waiting) {
      if (underWay.size >= atOnce) return;
      if (underWay.has(receiver)) continue;
      waiting.delete(receiver);
      const delivering = attempt(marks).finally(() => {
        underWay.delete(receiver);
        over.resolve();
        next();
      });
      underWay.set(receiver, delivering);
    }
  }

  return {
    /** Resolves when it has been delivered, or delivery has failed. */
    add(mark: Mark): Promise<void> {
      if (isStopping) return Promise.resolve();
      const receiver = receiverOf(mark);
      const known = waiting.get(receiver);
      if (known) {
        known.marks.push(mark);
        return known.over.promise;
      }
      const over = Promise.withResolvers<void>();
      waiting.set(receiver, { marks: [mark], over });
      next();
      return over.promise;
    },
    async stop(): Promise<void> {
      isStopping = true;
      for (const { over } of waiting.values()) over.resolve();
      waiting.clear();
      await Promise.all(underWay.values());
    },
  };
}

/**
 * People wait for receipts, and continued turns would compete with them for the processor. So a busy process holds its marks
 * for a moment. They are leased; if the process ends, other processes deliver them.
 */
function holdWhileBusy(deliver: OutboxObserver): OutboxObserver {
  let measured = performance.eventLoopUtilization();
  let measuredAt = performance.now();
  let isBusy = false;
  let held: Mark[] = [];
  let heldSince = 0;

  function measure(): void {
    if (performance.now() - measuredAt < busy.everyMs) return;
    const now = performance.eventLoopUtilization();
    isBusy = performance.eventLoopUtilization(now, measured).utilization > busy.utilization;
    measured = now;
    measuredAt = performance.now();
  }

  function releaseUnlessBusy(): void {
    measure();
    if (isBusy && performance.now() - heldSince < longestHoldMs) {
      setTimeout(releaseUnlessBusy, busy.everyMs).unref();
      return;
    }
    const marks = held;
    held = [];
    deliver(marks);
  }

  return (marks) => {
    const isFirst = held.length === 0;
    held.push(...marks);
    if (!isFirst) return;
    heldSince = performance.now();
    releaseUnlessBusy();
  };
}

function receiverOf(mark: Mark): string {
  switch (mark.kind) {
    case 'settled':
    case 'cancel':
    case 'forget':
      return `${mark.kind} ${mark.workflowId}`;
    case 'abandon':
      return `${mark.kind} ${mark.turn.turnId}`;
    case 'report':
      return mark.id;
    default:
      return mark satisfies never;
  }
}

/** Passes on together what was added within a few milliseconds. */
function createCollector(handOn: (ids: string[]) => Promise<void>) {
  let collected: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let handing = Promise.resolve();

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const ids = collected;
    collected = [];
    if (ids.length > 0) handing = handing.then(() => handOn(ids));
    return handing;
  }

  return {
    add(ids: string[]): void {
      collected.push(...ids);
      timer ??= setTimeout(() => void flush(), collectMs);
    },
    flush,
  };
}
