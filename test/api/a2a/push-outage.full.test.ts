/** The database is away in the middle of a delivery: the target gets no notification twice. */
import { DatabaseUnavailable } from '../../../src/storage/transient-errors.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { useAskingService } from '../../asking/asking-service.ts';
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
  { timeout: 120_000 },
  async () => {
    const first = target.hold();
    const agent = await connectAgent(setup.service);
    const { id } = await agent.send('hello', { push: pushTo(target) });
    await target.until((received) => received.length === 1);
    const second = target.hold();
    first();
    // Of a look that has more to tell.
    await target.until((received) => received.length === 2);
    const [deliveryId] = await setup.service.storage.pushConfigs.deliveriesOf({ tenant: 'demo', turnId: id });
    const delivery = setup.temporal.client.workflow.getHandle(`push/${deliveryId}`);
    failing = 5;
    second();
    await target.until(isTold('COMPLETED', id));
    expect(await delivery.result()).toEqual({ status: 'delivered' });
    const ids = target.received.map(({ headers }) => headers['x-a2a-notification-id']);
    expect(new Set(ids).size).toBe(ids.length);
  },
);
