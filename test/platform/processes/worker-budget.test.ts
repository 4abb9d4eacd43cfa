import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import {
  createSharedSlots,
  createWorkerBudget,
} from '../../../src/platform/processes/workers/worker-budget.ts';

const context = {
  slotType: 'activity',
  taskQueue: 'q',
  workerIdentity: 'w',
  workerBuildId: '',
  isSticky: false,
} as const;
const slotInfo = { type: 'activity', activityType: 'a' } as const;
const never = new AbortController().signal;

test('workers share their slots: one does not count polls of others, and waits for their tasks', async () => {
  const supplier = createSharedSlots(2);
  const [one, other] = [supplier(), supplier()];
  const [first, second] = [await one.reserveSlot(context, never), await one.reserveSlot(context, never)];
  expect(one.tryReserveSlot(context)).toBeNull();
  const third = other.tryReserveSlot(context);
  one.markSlotUsed({ slotInfo, permit: first });
  other.markSlotUsed({ slotInfo, permit: third! });
  // A poll that ends without a task gives its slot back, and two tasks are under way.
  one.releaseSlot({ permit: second });
  expect(one.tryReserveSlot(context)).toBeNull();

  const order: string[] = [];
  const waiting = one.reserveSlot(context, never).then(() => order.push('reserved'));
  await Promise.resolve();
  order.push('finished');
  other.releaseSlot({ slotInfo, permit: third! });
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
