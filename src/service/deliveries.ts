/** The workflows that deliver a turn outside of the service: push notifications, and answers in Slack. */
import type { TurnRef } from '../turn/turn.ts';
import { createPushDeliveries } from './push-deliveries.ts';
import { createStartedSlackDeliveries } from './slack/deliveries.ts';

type Parts = Parameters<typeof createPushDeliveries>[0] & Parameters<typeof createStartedSlackDeliveries>[0];

export function createDeliveries(parts: Parts) {
  const push = createPushDeliveries(parts);
  const slack = createStartedSlackDeliveries(parts);
  return {
    push,
    slack,
    /** Something happens to the turn. Not awaited, and may be lost: deliveries look by themselves, too. */
    hint(turn: TurnRef): void {
      push.hint(turn);
      slack.hint(turn);
    },
    /** Starts those of a turn again that may have been lost together with it. */
    async resume(turn: TurnRef): Promise<void> {
      await Promise.all([push.resume(turn), slack.resume(turn)]);
    },
  };
}
