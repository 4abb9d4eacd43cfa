/**
 * Events on their way from Slack to their handler. `receive` returns once the event has a row; only then Slack gets its
 * response. The event is handled in the background under a lease, so another process continues if one dies. Handling an event
 * twice must have the same result.
 */
import type { Logger } from 'pino';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { slackEventContext } from '../../credentials/sealing/sealed-values.ts';
import { troubleOf } from '../../remote/slack.ts';
import type { LeasedLoop } from '../../storage/leased-loop.ts';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import type { NewSlackEvent, SlackEvent } from '../../storage/tables/slack-events.ts';
import type { Storage } from '../../storage/storage.ts';

export type Handled =
  | { kind: 'done' }
  /** Continues when its sender is linked. */
  | { kind: 'parked' }
  | { kind: 'later'; ms: number };

/** As Slack sent it; its handler parses it. */
interface EventBody {
  type: string;
  [member: string]: unknown;
}

export interface InboxEvent extends Omit<SlackEvent, 'sealed'> {
  event: EventBody;
}

interface Parts {
  storage: Storage;
  keys: Pick<KeyRing, 'seal' | 'open'>;
  logger: Logger;
}

/** How long an event waits after its process has died. */
const leaseMs = 15_000;
const renewEveryMs = 5_000;
/** How often to look for events that other processes have received and cannot handle. */
const everyMs = 1_000;
const atOnce = 20;
/** The number of events that one statement stores. */
const mostAtOnce = 200;
/**
 * While this many events wait to be stored, no handling begins, so that Slack gets its responses in time; but no longer than
 * this.
 */
const crowd = 20;
const longestCrowdMs = 5_000;
const longestPauseMs = 60_000;
/** After this time its sender has stopped waiting. */
export const patienceMs = 60 * 60 * 1000;
/** Slack repeats an event within an hour. */
const keptMs = 24 * 60 * 60 * 1000;
const forgetEveryMs = 10 * 60 * 1000;

export function createSlackInbox({ storage, keys, logger }: Parts) {
  const { events } = storage.slack;
  const add = groupWrites<NewSlackEvent>(mostAtOnce, async (some) => {
    if ((await events.addAll(some)) > 0) loop?.wake();
  });
  let loop: LeasedLoop | undefined;
  let handle: (event: InboxEvent) => Promise<Handled>;
  let forgetting: NodeJS.Timeout | undefined;
  let arriving = 0;
  let crowdedSince = 0;
  const isCrowded = () => arriving >= crowd && Date.now() - crowdedSince < longestCrowdMs;

  async function work({ sealed, ...event }: SlackEvent): Promise<void> {
    const handled = await handleOrWait({ ...event, event: open(event, sealed) });
    switch (handled.kind) {
      case 'done':
        await events.finish(event);
        // The next event of its lane was waiting for it.
        return loop?.wake();
      case 'parked':
        return park(event);
      case 'later':
        return events.postpone(event, handled.ms);
      default:
        return handled satisfies never;
    }
  }

  async function handleOrWait(event: InboxEvent): Promise<Handled> {
    const { team, eventId, tries, receivedAt } = event;
    try {
      return await handle(event);
    } catch (error) {
      const trouble = troubleOf(error);
      const isTooOld = Date.now() - receivedAt > patienceMs;
      logger.warn({ err: error, team, eventId, tries, isTooOld }, 'an event of Slack could not be handled');
      if (isTooOld) return { kind: 'done' };
      if (trouble.kind === 'rate-limited') return { kind: 'later', ms: trouble.retryAfterMs };
      return { kind: 'later', ms: backoffMs(tries) };
    }
  }

  /** Its sender may have been linked before the event was parked. */
  async function park(event: Omit<SlackEvent, 'sealed'>): Promise<void> {
    await events.park(event);
    if (!(await storage.slack.people.get(event))) return;
    await events.unpark(event, Date.now() - patienceMs);
    loop?.wake();
  }

  function open(event: Omit<SlackEvent, 'sealed'>, sealed: string): EventBody {
    return JSON.parse(keys.open(sealed, slackEventContext(event))) as EventBody;
  }

  const forget = () =>
    void events
      .forget(Date.now() - keptMs)
      .catch((error: unknown) => logger.warn({ err: error }, 'old events of Slack could not be forgotten'));

  return {
    /** Rejects if it could not be stored: Slack sends it again. */
    async receive({ event, ...row }: Omit<NewSlackEvent, 'sealed'> & { event: EventBody }): Promise<void> {
      const sealed = keys.seal(JSON.stringify(event), slackEventContext(row));
      arriving += 1;
      if (arriving === crowd) crowdedSince = Date.now();
      try {
        await add({ ...row, sealed });
      } finally {
        arriving -= 1;
        if (arriving === crowd - 1) loop?.wake();
      }
    },
    /** Whether another event of its lane waits for its sender. */
    waitsInLane: (event: InboxEvent): Promise<boolean> => events.waitsInLane(event),
    /** Something is due. */
    wake: (): void => loop?.wake(),
    /** A handler that rejects gets the event again. */
    start(handler: (event: InboxEvent) => Promise<Handled>): void {
      handle = handler;
      const claim = async (free: number) => (isCrowded() ? [] : events.claim(free, leaseMs));
      const renew = {
        everyMs: renewEveryMs,
        async claims(underWay: SlackEvent[]) {
          await events.renew(underWay, leaseMs);
          return new Set(underWay);
        },
      };
      loop = startLeasedLoop<SlackEvent>(
        { name: 'slack events', everyMs, atOnce, claim, work, renew },
        logger,
      );
      forgetting = setInterval(forget, forgetEveryMs).unref();
    },
    async close(): Promise<void> {
      clearInterval(forgetting);
      await loop?.stop();
    },
  };
}

/** 1 s, 2 s, 4 s, … up to a minute. */
function backoffMs(tries: number): number {
  return Math.min(1_000 * 2 ** Math.min(tries - 1, 10), longestPauseMs);
}

/** Group commit: items that come during a write are written together next. Each caller waits for the write with its item. */
function groupWrites<T>(
  mostAtOnce: number,
  write: (items: T[]) => Promise<void>,
): (item: T) => Promise<void> {
  const waiting: { item: T; written: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting.splice(0, mostAtOnce);
      try {
        await write(group.map(({ item }) => item));
        for (const { written } of group) written.resolve();
      } catch (error) {
        for (const { written } of group) written.reject(error);
      }
    }
    isWriting = false;
  }

  return (item) => {
    const written = Promise.withResolvers<void>();
    waiting.push({ item, written });
    if (!isWriting) void writeAll();
    return written.promise;
  };
}
