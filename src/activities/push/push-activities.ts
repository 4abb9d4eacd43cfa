/**
 * Notifications to where callers want to be told of their turns. Made from the turn's log when they are sent, so that
 * history has positions of the log in it and nothing that anybody said.
 */
import { Context, getClient, heartbeat } from '@temporalio/activity';
import type { Logger } from 'pino';
import { aboutTurn } from '../../telemetry/events.ts';
import type { Config } from '../../config/config.ts';
import { SealingError } from '../../credentials/sealing/key-ring.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { openPushTarget } from '../../credentials/sealing/sealed-push-target.ts';
import type { PushTarget } from '../../credentials/sealing/sealed-push-target.ts';
import { createWebhooks } from '../../network/webhook.ts';
import type { PushConfig } from '../../storage/ports/push-configs.ts';
import type { Storage } from '../../storage/storage.ts';
import { isDatabaseTrouble } from '../../storage/transient-errors.ts';
import type { DeliveryReport } from '../../turn/delivery-report.ts';
import type { News } from '../../a2a/push-news.ts';
import type { HeldCallLimit } from '../call-tool/held-call-limit.ts';
import { heartbeatMs } from '../heartbeat.ts';
import { pushWorkflowId, turnNews } from '../../workflows/messages.ts';
import { createFairSlots } from './fair-slots.ts';
import { followNews } from './follow-turn.ts';
import type { TurnNews } from './follow-turn.ts';
import { bodiesOf, toNotification } from './notification.ts';

export interface DeliverInput {
  deliveryId: string;
  /** Up to where in the log the target has been told; null before the first notification. */
  position: number | null;
  /** Something is about to happen, although the log does not say so yet. */
  isAwaited: boolean;
}

/** `failed`: the target did not take a notification. `ended`: it was told of the end. `removed`: nobody wants to be told any more. */
export type PushReport = DeliveryReport<number | null, 'ended' | 'removed'>;

export type GivenUp = { deliveryId: string };

/** How long news of a turn at work is watched for after a look; the next one is due before. */
const watchMs = 45_000;
/** Turns that one process watches at a time, and how many of them one caller's. Beyond that, their workflows look now and then. */
const watched = { total: 1_000, each: 100 };

interface Parts {
  storage: Storage;
  keys: KeyRing;
  config: Pick<Config, 'a2a' | 'http' | 'worker'>;
  heldCallLimit: HeldCallLimit;
  logger: Logger;
}

export function createPushActivities({ storage, keys, config, heldCallLimit, logger }: Parts) {
  const webhooks = createWebhooks(config.a2a.targets);
  const sender = { publicUrl: config.http.publicUrl, key: config.a2a.signingKeys[0] };
  // Targets, slow ones above all, must not take the slots that turns work with; nor one caller or host those of the others.
  const most = Math.max(1, Math.floor(config.worker.calls / 4));
  const sending = createFairSlots({ total: most, each: Math.max(1, Math.floor(most / 4)) });
  const watching = createFairSlots(watched);
  const watches = new Map<string, AbortController>();

  /** Null when its key is not there; it may be put back. */
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
      const { headers } = await toNotification({ body, id }, { ...push, target }, sender);
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

  /** Signals the workflow of a delivery as soon as there is news. It holds no slot, and may be lost: workflows look, too. */
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
      const stopped = await tell(push, target, news.known, at);
      if (stopped) {
        if (stopped.isSlow) slow = push.caller;
        return stopped.report;
      }
      const state = news.state();
      if (state === 'ended') {
        await storage.pushConfigs.removeDelivery(deliveryId);
        return { kind: 'ended', position: at.position };
      }
      // While a person is asked, the process that takes the answer sends the signal.
      if (state === 'working' || isAwaited) watch(push, news);
      return { kind: 'waiting', position: at.position };
    } finally {
      slot.release(slow);
    }
  }

  /** Null when all was accepted. */
  async function tell(
    push: PushConfig,
    target: PushTarget,
    all: News[],
    at: { position: number | null },
  ): Promise<{ report: PushReport; isSlow?: boolean } | null> {
    for (const one of all) {
      // It may have been removed meanwhile.
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
      // What an attempt that died had told already is not told again.
      const reached = Context.current().info.heartbeatDetails as { position: number | null } | undefined;
      const at = { position: reached?.position ?? input.position };
      const beat = setInterval(() => heartbeat({ position: at.position }), heartbeatMs);
      try {
        return await deliver(input, at);
      } catch (error) {
        // Kept, before attempts are used up: the next look would begin where this one began, and tell all of it again.
        if (!isDatabaseTrouble(error) || at.position === input.position) throw error;
        return { kind: 'busy', position: at.position };
      } finally {
        clearInterval(beat);
      }
    },

    async giveUpDelivery({ deliveryId }: GivenUp): Promise<void> {
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
