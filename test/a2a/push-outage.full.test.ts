/** The database is away in the middle of a delivery: the target is not told again what it was told before. */
import { DatabaseUnavailable } from '../../src/storage/transient-errors.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { done } from '../servers/playing-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import { connectAgent } from './a2a-client.ts';
import { isTold, pushTo, startPushTarget } from './push-target.ts';
import type { PushTargetServer } from './push-target.ts';

/** As many reads fail as a look has attempts. */
let failing = 0;
const setup = useAskingService({
  env: { A2A_PUSH_TARGETS: 'local' },
  around: (storage) => ({
    ...storage,
    pushConfigs: {
      ...storage.pushConfigs,
      async ofDelivery(id) {
        if (failing-- > 0)
          throw new DatabaseUnavailable(
            Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
          );
        return storage.pushConfigs.ofDelivery(id);
      },
    },
  }),
});
let target: PushTargetServer;
beforeAll(async () => {
  target = await startPushTarget();
});
afterAll(() => target[Symbol.asyncDispose]());

test(
  'the database is away for all attempts of a look: nothing is told twice',
  { timeout: 90_000 },
  async () => {
    const released = Promise.withResolvers<void>();
    const result = done('late');
    setup.server.play((message, response) => {
      void released.promise.then(() => answer(message, response, result));
    });
    const agent = await connectAgent(setup.service);
    const push = pushTo(target);
    const sent = agent.send('call asking__ask {}', { push });
    const [first] = await target.until((received) => received.length >= 2);
    const taskId = (first?.body.task ?? first?.body.statusUpdate)?.id ?? '';
    const [deliveryId] = await setup.service.storage.pushConfigs.deliveriesOf({
      tenant: 'demo',
      turnId: taskId,
    });
    const delivery = setup.temporal.client.workflow.getHandle(`push/${deliveryId}`);
    const hasHeartbeat = async () => {
      const { raw } = await delivery.describe();
      return (raw.pendingActivities ?? []).some(({ heartbeatDetails }) => heartbeatDetails != null);
    };
    await expect.poll(hasHeartbeat, { timeout: 20_000 }).toBe(true);
    failing = 5;
    released.resolve();
    const { id } = await sent;
    await target.until(isTold('COMPLETED', id));
    expect(await delivery.result()).toEqual({ status: 'delivered' });
    const ids = target.received.map(({ headers }) => headers['x-a2a-notification-id']);
    expect(new Set(ids).size).toBe(ids.length);
  },
);
