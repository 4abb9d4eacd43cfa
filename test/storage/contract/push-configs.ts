import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { PushConfig } from '../../../src/storage/ports/push-configs.ts';
import type { Subject } from '../contract.ts';

export function pushConfigsContract(subject: () => Subject): void {
  describe('push configs', () => {
    const turnOf = () => ({ tenant: 'acme', conversation: 'c1', turnId: randomUUID() });
    const make = (turn: PushConfig['turn'], more: Partial<PushConfig> = {}): PushConfig => ({
      turn,
      caller: 'alice',
      id: 'one',
      deliveryId: randomUUID(),
      wire: '1.0',
      isStructured: false,
      position: 7,
      sealed: 'sealed',
      ...more,
    });

    test('are their caller’s, and one of the same id takes the place of another', async () => {
      const { storage, other } = subject();
      const turn = turnOf();
      const first = make(turn);
      const second = make(turn, { wire: '0.3', isStructured: true, position: 9 });
      expect(await storage.pushConfigs.put(first, 1)).toBe(true);
      expect(await storage.pushConfigs.put(second, 1)).toBe(true);
      expect(await other.pushConfigs.get(first)).toEqual(second);
      expect(await other.pushConfigs.ofDelivery(first.deliveryId)).toBeNull();
      expect(await other.pushConfigs.ofDelivery(second.deliveryId)).toEqual(second);
      for (const change of [{ caller: 'bob' }, { id: 'two' }, { turn: { ...turn, tenant: 'other' } }])
        expect(await other.pushConfigs.get({ ...second, ...change })).toBeNull();
    });

    test('are listed by id, all of a turn are known to whoever hints, and a caller has no more than the limit', async () => {
      const { storage } = subject();
      const turn = turnOf();
      const [b, a, bobs] = [make(turn, { id: 'b' }), make(turn, { id: 'a' }), make(turn, { caller: 'bob' })];
      for (const config of [b, a, bobs]) expect(await storage.pushConfigs.put(config, 2)).toBe(true);
      expect(await storage.pushConfigs.put(make(turn, { id: 'c' }), 2)).toBe(false);
      expect(await storage.pushConfigs.list({ turn, caller: 'alice' })).toEqual([a, b]);
      expect((await storage.pushConfigs.deliveriesOf(turn)).toSorted()).toEqual(
        [a, b, bobs].map(({ deliveryId }) => deliveryId).toSorted(),
      );
      await storage.pushConfigs.remove(a);
      await storage.pushConfigs.removeDelivery(b.deliveryId);
      await storage.pushConfigs.removeDelivery(b.deliveryId);
      expect(await storage.pushConfigs.list({ turn, caller: 'alice' })).toEqual([]);
      expect(await storage.pushConfigs.list({ turn, caller: 'bob' })).toEqual([bobs]);
    });
  });
}
