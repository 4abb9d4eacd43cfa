import { expect, test } from 'vitest';
import { createFairSlots } from '../../../src/activities/push/fair-slots.ts';
import type { Slot } from '../../../src/activities/push/fair-slots.ts';

const mustTake = (slot: Slot | null): Slot => {
  if (!slot) throw new Error('there is a slot');
  return slot;
};

test('a name has its share, and others have what is left', () => {
  const slots = createFairSlots({ total: 3, shares: [2, 2] });
  const first = mustTake(slots.take(['alice', 'one.example']));
  mustTake(slots.take(['alice', 'two.example']));
  expect(slots.take(['alice', 'three.example'])).toBeNull();
  mustTake(slots.take(['bob', 'one.example']));
  expect(slots.take(['carol', 'four.example'])).toBeNull();
  first.release();
  expect(slots.take(['carol', 'one.example'])).not.toBeNull();
});

test('all names of a slot have to have room', () => {
  const slots = createFairSlots({ total: 9, shares: [1, 1] });
  mustTake(slots.take(['alice', 'one.example']));
  expect(slots.take(['bob', 'one.example'])).toBeNull();
  expect(slots.take(['bob', 'two.example'])).not.toBeNull();
});

test('one caller leaves room at a host for the others', () => {
  const slots = createFairSlots({ total: 9, shares: [2, 4] });
  mustTake(slots.take(['alice', 'one.example']));
  mustTake(slots.take(['alice', 'one.example']));
  expect(slots.take(['alice', 'one.example'])).toBeNull();
  mustTake(slots.take(['bob', 'one.example']));
  mustTake(slots.take(['bob', 'one.example']));
  expect(slots.take(['carol', 'one.example'])).toBeNull();
});

test('a name that was slow has one slot until it is quick again', () => {
  const slots = createFairSlots({ total: 9, shares: [3, 3] });
  mustTake(slots.take(['alice', 'one.example'])).release('alice');
  const only = mustTake(slots.take(['alice', 'two.example']));
  expect(slots.take(['alice', 'three.example'])).toBeNull();
  // The host is not to blame for one of its users.
  expect(slots.take(['bob', 'one.example'])).not.toBeNull();
  only.release();
  mustTake(slots.take(['alice', 'two.example']));
  expect(slots.take(['alice', 'three.example'])).not.toBeNull();
});
