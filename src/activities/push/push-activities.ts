/**
 * Notifications to where callers want to be told of their turns. Made from the turn's log when they are sent, so that
 * history has positions of the log in it and nothing that anybody said.
 */
import { Context, heartbeat } from '@temporalio/activity';
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
import { followNews } from './follow-turn.ts';
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

/** How long an activity waits for what comes. */
const followMs = 10_000;

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
  // Slow targets are not to take the slots that turns work with.
  const most = Math.max(1, Math.floor(config.worker.calls / 4));
  let underWay = 0;

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

  async function send(push: PushConfig, target: PushTarget, news: News): Promise<'taken' | PushReport> {
    for (const [index, body] of (await bodiesOf(news, push.wire)).entries()) {
      const id = `${push.deliveryId}/${news.position}/${index}`;
      const { headers } = await toNotification({ body, id }, { ...push, target }, sender);
      const posted = await webhooks.post(target.url, headers, body);
      switch (posted.kind) {
        case 'taken':
          break;
        case 'gone':
          await storage.pushConfigs.removeDelivery(push.deliveryId);
          return { kind: 'removed', position: news.position };
        case 'failed': {
          const { host } = new URL(target.url);
          logger.warn(
            { ...aboutTurn(push.turn), host, reason: posted.reason },
            'a target did not accept a notification',
          );
          return {
            kind: 'failed',
            position: null,
            ...(posted.retryAfterMs !== null && { retryAfterMs: posted.retryAfterMs }),
          };
        }
        default:
          return posted satisfies never;
      }
    }
    return 'taken';
  }

  async function deliver({ deliveryId, position, isAwaited }: DeliverInput, at: { position: number | null }) {
    at.position = position;
    const push = await storage.pushConfigs.ofDelivery(deliveryId);
    if (!push) return { kind: 'removed', position } as const;
    const target = open(push);
    if (!target) return { kind: 'failed', position } as const;
    const news = await followNews(storage, push, { after: position, publicUrl: sender.publicUrl });
    const tell = async (all: News[]): Promise<PushReport | null> => {
      for (const one of all) {
        // It may have been removed meanwhile.
        if (!(await storage.pushConfigs.ofDelivery(deliveryId)))
          return { kind: 'removed', position: at.position };
        const sent = await send(push, target, one);
        if (sent !== 'taken') return { ...sent, position: at.position };
        at.position = one.position;
      }
      return null;
    };
    if (!news) {
      await storage.pushConfigs.removeDelivery(deliveryId);
      return { kind: 'removed', position } as const;
    }
    const stopped = await tell(news.known);
    if (stopped) return stopped;
    if (news.state() === 'working' || (news.state() === 'waiting' && isAwaited)) {
      const { cancellationSignal } = Context.current();
      const until = AbortSignal.any([
        cancellationSignal,
        heldCallLimit.whenEnding,
        AbortSignal.timeout(followMs),
      ]);
      for await (const fresh of news.coming(until)) {
        const report = await tell(fresh);
        if (report) return report;
        if (fresh.length > 0 && news.state() === 'waiting') break;
      }
    }
    const kind = news.state();
    if (kind === 'ended') await storage.pushConfigs.removeDelivery(deliveryId);
    return { kind, position: at.position } as const;
  }

  return {
    async deliverNotifications(input: DeliverInput): Promise<PushReport> {
      // What an attempt that died had told already is not told again.
      const reached = Context.current().info.heartbeatDetails as { position: number | null } | undefined;
      const at = { position: reached?.position ?? input.position };
      if (underWay >= most) return { kind: 'busy', position: at.position };
      underWay += 1;
      const beat = setInterval(() => heartbeat({ position: at.position }), heartbeatMs);
      try {
        return await deliver({ ...input, position: at.position }, at);
      } catch (error) {
        // Kept, before attempts are used up: the next look would begin where this one began, and tell all of it again.
        if (!isDatabaseTrouble(error) || at.position === input.position) throw error;
        return { kind: 'busy', position: at.position };
      } finally {
        clearInterval(beat);
        underWay -= 1;
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
