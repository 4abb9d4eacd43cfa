/**
 * Events on their way from Slack to whoever handles them. `receive` returns as soon as the event has a row, and only then
 * Slack is answered; the rest is done in the background under a lease, so that any process goes on where one has died.
 * Handling an event twice must come to the same.
 */
import type { Logger } from 'pino';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { slackEventContext } from '../../credentials/sealing/sealed-slack.ts';
import { troubleOf } from '../../slack/client.ts';
import { groupWrites } from './group-writes.ts';
import type { LeasedLoop } from '../../storage/leased-loop.ts';
import { startLeasedLoop } from '../../storage/leased-loop.ts';
import type { NewSlackEvent, SlackEvent } from '../../storage/ports/slack.ts';
import type { Storage } from '../../storage/storage.ts';

export type Handled =
  | { kind: 'done' }
  /** Goes on when its sender is linked. */
  | { kind: 'parked' }
  | { kind: 'later'; ms: number };

/** As Slack sent it: whoever handles it reads it. */
interface EventBody {
  type: string;
  [member: string]: unknown;
}

export interface InboxEvent extends Omit<SlackEvent, 'sealed'> {
  event: EventBody;
}

export interface SlackInbox {
  /** Rejects where it could not be kept: Slack sends it again. */
  receive(event: Omit<NewSlackEvent, 'sealed'> & { event: EventBody }): Promise<void>;
  /** Whether another event of its lane waits for its sender. */
  waitsInLane(event: InboxEvent): Promise<boolean>;
  /** Something is due. */
  wake(): void;
  /** Rejects where the event is to be handled again. */
  start(handle: (event: InboxEvent) => Promise<Handled>): void;
  close(): Promise<void>;
}

interface Parts {
  storage: Pick<Storage, 'slack'>;
  keys: Pick<KeyRing, 'seal' | 'open'>;
  logger: Logger;
}

/** How long an event stands still whose process has died. */
const leaseMs = 15_000;
const renewEveryMs = 5_000;
/** What another process has received is due here, too, when that one is busy or gone. */
const everyMs = 1_000;
const atOnce = 20;
/** Of a flood, so many are kept with one statement. */
const mostAtOnce = 200;
/** While so many wait to be kept, nothing more is begun, so that Slack hears in time; but no longer than this. */
const crowd = 20;
const longestCrowdMs = 5_000;
const longestPauseMs = 60_000;
/** After that, whoever wrote it has stopped waiting. */
export const patienceMs = 60 * 60 * 1000;
/** Slack sends an event again within an hour. */
const keptMs = 24 * 60 * 60 * 1000;
const forgetEveryMs = 10 * 60 * 1000;

export function createSlackInbox({ storage, keys, logger }: Parts): SlackInbox {
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
        // The next one of its lane has waited for this.
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

  /** Its sender may have been linked a moment ago, before there was anything to go on with. */
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
    async receive({ event, ...row }) {
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
    waitsInLane: (event) => events.waitsInLane(event),
    wake: () => loop?.wake(),
    start(handler) {
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
    async close() {
      clearInterval(forgetting);
      await loop?.stop();
    },
  };
}

/** 1 s, 2 s, 4 s, … up to a minute. */
function backoffMs(tries: number): number {
  return Math.min(1_000 * 2 ** Math.min(tries - 1, 10), longestPauseMs);
}
