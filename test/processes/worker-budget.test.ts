import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { createSharedSlots, createWorkerBudget } from '../../src/processes/workers/worker-budget.ts';

const context = {
  slotType: 'activity',
  taskQueue: 'q',
  workerIdentity: 'w',
  workerBuildId: '',
  isSticky: false,
} as const;
const slotInfo = { type: 'activity', activityType: 'a' } as const;
const never = new AbortController().signal;

test('workers share their slots: polls take none, and one more task waits until any worker has finished one', async () => {
  const supplier = createSharedSlots(2);
  const [one, other] = [supplier(), supplier()];
  const polls = await Promise.all([one, one, one, other].map((worker) => worker.reserveSlot(context, never)));
  one.markSlotUsed({ slotInfo, permit: polls[0]! });
  expect(other.tryReserveSlot(context)).not.toBeNull();
  other.markSlotUsed({ slotInfo, permit: polls[3]! });
  expect(one.tryReserveSlot(context)).toBeNull();

  const order: string[] = [];
  const waiting = one.reserveSlot(context, never).then((permit) => {
    order.push('reserved');
    return permit;
  });
  // A poll that ends without a task gives nothing back.
  one.releaseSlot({ permit: polls[1]! });
  await Promise.resolve();
  order.push('finished');
  other.releaseSlot({ slotInfo, permit: polls[3]! });
  await waiting;
  expect(order).toEqual(['finished', 'reserved']);
});

test('a poll that is given up while it waits for a slot ends', async () => {
  const supplier = createSharedSlots(1)();
  supplier.markSlotUsed({ slotInfo, permit: await supplier.reserveSlot(context, never) });
  const giveUp = new AbortController();
  const waiting = supplier.reserveSlot(context, giveUp.signal);
  giveUp.abort();
  await waiting;
});

test('ten versions cache no more workflows than one worker would', () => {
  const budget = createWorkerBudget(loadConfig({}, process.cwd()));
  const own = budget.takeCache(true);
  const others = Array.from({ length: 10 }, () => budget.takeCache(false));
  const all = [own, ...others].reduce((sum, { size }) => sum + size, 0);
  expect(all).toBeLessThanOrEqual((own.size * 4) / 3 + 10 * 10);
  for (const other of others) {
    expect(other.size).toBeGreaterThanOrEqual(10);
    other.giveBack();
  }
  expect(budget.takeCache(false).size).toBe(others[0]!.size);
});
