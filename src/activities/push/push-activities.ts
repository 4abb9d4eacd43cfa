/**
 * Push notifications about turns, to the targets that callers registered. They are made from the turn's log when they are
 * sent, so that workflow history contains positions of the log and no text.
 */
import { createHash } from 'node:crypto';
import { Context, getClient, heartbeat } from '@temporalio/activity';
import type { Logger } from 'pino';
import { StreamResponse } from '@a2a-js/sdk';
import { SignJWT } from 'jose';
import { aboutTurn } from '../../platform/telemetry/events.ts';
import type { Config } from '../../platform/config/config.ts';
import { SealingError } from '../../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { openPushTarget } from '../../credentials/sealing/sealed-values.ts';
import type { PushTarget } from '../../credentials/sealing/sealed-values.ts';
import { createWebhooks } from '../../platform/network/webhook.ts';
import type { PushConfig } from '../../storage/schema/session-tables.ts';
import type { Storage } from '../../storage/storage.ts';
import { isDatabaseTrouble } from '../../storage/transient-errors.ts';
import type { DeliveryReport } from '../../workflows/messages.ts';
import type { News } from '../../api/a2a/vocabulary/push-news.ts';
import type { HeldCallLimit } from '../call-tool/held-call-limit.ts';
import { heartbeatMs } from '../running-activity.ts';
import { pushWorkflowId, turnNews } from '../../workflows/messages.ts';
import { createFairSlots } from './fair-slots.ts';
import { toLegacyTask } from '../../api/a2a/vocabulary/legacy.ts';
import { createNewsFeed } from '../../api/a2a/vocabulary/push-news.ts';
import { createTaskView, isInterrupted, isTerminal } from '../../api/a2a/vocabulary/task-view.ts';
import type { SigningKey } from '../../platform/config/signing-keys.ts';
import { answerAddress } from '@interlude-ai/core/elicitation/account-pages.ts';
import { turnEntries, unloggedEnd } from '../../storage/log/turn-entries.ts';

interface DeliverInput {
  deliveryId: string;
  /** Position in the log up to which the target was notified; null before the first notification. */
  position: number | null;
  /** Something is about to happen that the log does not show yet. */
  isAwaited: boolean;
}

/** `failed`: the target did not accept a notification. `ended`: it got the end of the turn. `removed`: it wants no more. */
type PushReport = DeliveryReport<number | null, 'ended' | 'removed'>;

/** How long a running turn is watched after a look. The workflow looks again before. */
const watchMs = 45_000;
/** How many turns one process watches at a time, in all and for one caller. Workflows look at the others from time to time. */
const watched = { total: 1_000, shares: [100] };

interface Parts {
  storage: Storage;
  keys: KeyRing;
  config: Config;
  heldCallLimit: HeldCallLimit;
  logger: Logger;
}

export function createPushActivities({ storage, keys, config, heldCallLimit, logger }: Parts) {
  const webhooks = createWebhooks(config.a2a.targets);
  const sender = { publicUrl: config.http.publicUrl, key: config.a2a.signingKeys[0] };
  // Slow targets must not take the slots that turns need, and one caller or host not those of the others.
  const most = Math.max(1, Math.floor(config.worker.calls / 4));
  const shareOf = (part: number) => Math.max(1, Math.floor(most * part));
  // A caller has less than a host, so that it cannot keep others from the host.
  const sending = createFairSlots({ total: most, shares: [shareOf(1 / 4), shareOf(1 / 2)] });
  const watching = createFairSlots(watched);
  const watches = new Map<string, AbortController>();

  /** Null if its key is missing; it may be added again. */
  function open({ deliveryId, sealed, turn }: PushConfig): PushTarget | null {
    try {
      return openPushTarget(keys, deliveryId, sealed);
    } catch (error) {
      if (!(error instanceof SealingError)) throw error;
      logger.error({ err: error, ...aboutTurn(turn) }, 'a target of notifications cannot be read');
      return null;
    }
  }

  async function send(
    push: PushConfig,
    target: PushTarget,
    news: News,
  ): Promise<'taken' | { report: PushReport; isSlow?: boolean }> {
    for (const [index, body] of (await bodiesOf(news, push.wire)).entries()) {
      const id = `${push.deliveryId}/${news.position}/${index}`;
      const headers = await headersOf({ body, id }, { ...push, target }, sender);
      const posted = await webhooks.post(target.url, headers, body);
      switch (posted.kind) {
        case 'taken':
          break;
        case 'gone':
          await storage.pushConfigs.removeDelivery(push.deliveryId);
          return { report: { kind: 'removed', position: news.position } };
        case 'failed': {
          const { reason, retryAfterMs, isSlow } = posted;
          const { host } = new URL(target.url);
          logger.warn({ ...aboutTurn(push.turn), host, reason }, 'a target did not accept a notification');
          return {
            report: { kind: 'failed', position: null, ...(retryAfterMs !== null && { retryAfterMs }) },
            isSlow,
          };
        }
        default:
          return posted satisfies never;
      }
    }
    return 'taken';
  }

  /** Signals the workflow of a delivery as soon as there is news. Takes no slot and may be lost: workflows also look. */
  function watch({ deliveryId, caller, turn }: PushConfig, news: TurnNews): void {
    watches.get(deliveryId)?.abort();
    const place = watching.take([caller]);
    if (!place) return;
    const stop = new AbortController();
    watches.set(deliveryId, stop);
    const workflow = getClient().workflow.getHandle(pushWorkflowId(deliveryId));
    const until = AbortSignal.any([stop.signal, heldCallLimit.whenEnding, AbortSignal.timeout(watchMs)]);
    const signal = async () => {
      for await (const fresh of news.coming(until)) {
        if (fresh.length === 0) continue;
        await workflow.signal(turnNews);
        return;
      }
    };
    signal()
      .catch((error: unknown) =>
        logger.debug({ err: error, ...aboutTurn(turn) }, 'a notification is delayed'),
      )
      .finally(() => {
        place.release();
        if (watches.get(deliveryId) === stop) watches.delete(deliveryId);
      });
  }

  async function deliver(
    { deliveryId, isAwaited }: DeliverInput,
    at: { position: number | null },
  ): Promise<PushReport> {
    const push = await storage.pushConfigs.ofDelivery(deliveryId);
    if (!push) return { kind: 'removed', position: at.position };
    const target = open(push);
    if (!target) return { kind: 'failed', position: at.position };
    const slot = sending.take([push.caller, new URL(target.url).host]);
    if (!slot) return { kind: 'busy', position: at.position };
    let slow: string | undefined;
    try {
      const news = await followNews(storage, push, { after: at.position, publicUrl: sender.publicUrl });
      if (!news) {
        await storage.pushConfigs.removeDelivery(deliveryId);
        return { kind: 'removed', position: at.position };
      }
      const stopped = await sendAll(push, target, news.known, at);
      if (stopped) {
        if (stopped.isSlow) slow = push.caller;
        return stopped.report;
      }
      const state = news.state();
      if (state === 'ended') {
        await storage.pushConfigs.removeDelivery(deliveryId);
        return { kind: 'ended', position: at.position };
      }
      // While a person is asked, the process that receives the answer sends the signal.
      if (state === 'working' || isAwaited) watch(push, news);
      return { kind: 'waiting', position: at.position };
    } finally {
      slot.release(slow);
    }
  }

  /** Null if everything was accepted. */
  async function sendAll(
    push: PushConfig,
    target: PushTarget,
    all: News[],
    at: { position: number | null },
  ): Promise<{ report: PushReport; isSlow?: boolean } | null> {
    for (const one of all) {
      // The target may have been removed meanwhile.
      if (!(await storage.pushConfigs.ofDelivery(push.deliveryId)))
        return { report: { kind: 'removed', position: at.position } };
      const sent = await send(push, target, one);
      if (sent !== 'taken') return { ...sent, report: { ...sent.report, position: at.position } };
      at.position = one.position;
    }
    return null;
  }

  return {
    async deliverNotifications(input: DeliverInput): Promise<PushReport> {
      // Notifications that a crashed attempt already sent are not sent again.
      const reached = Context.current().info.heartbeatDetails as { position: number | null } | undefined;
      const at = { position: reached?.position ?? input.position };
      const beat = setInterval(() => heartbeat({ position: at.position }), heartbeatMs);
      try {
        return await deliver(input, at);
      } catch (error) {
        // Returned, so that the position is stored: a retry would send everything again.
        if (!isDatabaseTrouble(error) || at.position === input.position) throw error;
        return { kind: 'busy', position: at.position };
      } finally {
        clearInterval(beat);
      }
    },

    async giveUpDelivery({ deliveryId }: { deliveryId: string }): Promise<void> {
      const push = await storage.pushConfigs.ofDelivery(deliveryId);
      if (!push) return;
      await storage.pushConfigs.removeDelivery(deliveryId);
      logger.error(
        aboutTurn(push.turn),
        'a target accepted no notification before the deadline and gets no more',
      );
    },
  };
}

interface TurnNews {
  /** What is in the log and was not sent yet. */
  known: News[];
  /** `waiting`: for a person; nothing happens until then. */
  state(): 'working' | 'waiting' | 'ended';
  /** News as it happens, until the turn has ended or `signal` aborts. */
  coming(signal: AbortSignal): AsyncGenerator<News[]>;
}

/** The news of a turn for one target. Null if the turn was withdrawn. `after`: as `position` of `DeliverInput`. */
export async function followNews(
  storage: Storage,
  config: Pick<PushConfig, 'turn' | 'isStructured' | 'position'>,
  { after, publicUrl }: { after: number | null; publicUrl: string },
): Promise<TurnNews | null> {
  const { turnLog, turns } = storage;
  const { turn, isStructured } = config;
  const row = await turns.get(turn);
  if (!row) return null;
  const facts = {
    turn,
    given: await turns.given(row),
    clientMessageId: row.clientMessageId,
    createdAt: row.createdAt,
    // The log says when it began and ended.
    status: 'starting' as const,
  };
  const view = createTaskView(facts, { isStructured, pageOf: (id) => answerAddress(publicUrl, id) });
  const feed = createNewsFeed(view);
  const read = await turnEntries(turnLog, turn, await turnLog.latest(turn));
  const { entries } = read;
  let { position } = read;
  const sentUpTo = after ?? config.position;
  view.add(entries.filter(({ seq }) => seq <= config.position));
  const known = [feed.first(config.position)];
  known.push(...feed.next(entries.filter(({ seq }) => seq > config.position)));
  // A turn can have ended without an entry in the log.
  const unlogged = entries.length === 0 && (await unloggedEnd(storage, turn, sentUpTo + 1));
  if (unlogged) known.push(...feed.next([unlogged]));
  const isNew = ({ position: at }: News) => at > sentUpTo;
  return {
    known: after === null ? known : known.slice(1).filter(isNew),
    state() {
      if (isTerminal(view.state())) return 'ended';
      return isInterrupted(view.state()) ? 'waiting' : 'working';
    },
    async *coming(signal) {
      for await (const batch of turnLog.follow(turn, position, signal)) {
        position = batch.at(-1)?.seq ?? position;
        yield feed.next(batch.filter(({ turnId }) => turnId === turn.turnId));
        if (isTerminal(view.state())) return;
      }
    },
  };
}

const mediaTypes = { '1.0': 'application/a2a+json', '0.3': 'application/json' };
/** Long enough for clocks that differ, too short for a replay. */
const validFor = '5m';

/** The notifications for a piece of news: A2A 1.0, section 4.3.3; in 0.3, the task. */
async function bodiesOf(news: News, wire: PushConfig['wire']): Promise<string[]> {
  if (wire === '0.3') return [JSON.stringify(await toLegacyTask(news.task))];
  return news.updates.map((update) => JSON.stringify(StreamResponse.toJSON(update)));
}

/** `id`: stays the same when the notification is sent again. */
async function headersOf(
  { body, id }: { body: string; id: string },
  { turn, wire, target }: PushConfig & { target: PushTarget },
  { publicUrl, key }: { publicUrl: string; key: SigningKey | undefined },
): Promise<Record<string, string>> {
  const { url, token, authentication } = target;
  const signature =
    key &&
    (await new SignJWT({
      taskId: turn.turnId,
      request_body_sha256: createHash('sha256').update(body).digest('hex'),
    })
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT' })
      .setIssuer(publicUrl)
      .setAudience(new URL(url).origin)
      .setIssuedAt()
      .setExpirationTime(validFor)
      .setJti(id)
      .sign(key.jwk));
  const own = authentication && `${authentication.scheme} ${authentication.credentials}`;
  const authorization = own ?? (signature && `Bearer ${signature}`);
  return {
    'content-type': mediaTypes[wire],
    'user-agent': 'Interlude',
    'x-a2a-notification-id': id,
    ...(token !== '' && { 'x-a2a-notification-token': token }),
    ...(authorization && { authorization }),
    ...(signature && { 'x-a2a-notification-signature': signature }),
  };
}
