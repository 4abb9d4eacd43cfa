import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { PushConfig } from '../../../src/storage/schema/session-tables.ts';
import { onEachDatabase } from '../contract.ts';

onEachDatabase((subject) => {
  describe('push configs', () => {
    const limits = { perTurn: 1, perCaller: 1 };
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
      const caller = randomUUID();
      const first = make(turn, { caller });
      const second = make(turn, { caller, wire: '0.3', isStructured: true, position: 9 });
      expect(await storage.pushConfigs.put(first, limits)).toBe('kept');
      expect(await storage.pushConfigs.put(second, limits)).toBe('kept');
      expect(await other.pushConfigs.get(first)).toEqual(second);
      expect(await other.pushConfigs.ofDelivery(first.deliveryId)).toBeNull();
      expect(await other.pushConfigs.ofDelivery(second.deliveryId)).toEqual(second);
      for (const change of [{ caller: 'bob' }, { id: 'two' }, { turn: { ...turn, tenant: 'other' } }])
        expect(await other.pushConfigs.get({ ...second, ...change })).toBeNull();
    });

    test('are listed by id, all of a turn are known to whoever hints, and a caller has no more than the limits', async () => {
      const { storage } = subject();
      const turn = turnOf();
      const caller = randomUUID();
      const bob = randomUUID();
      const [b, a, bobs] = [
        make(turn, { caller, id: 'b' }),
        make(turn, { caller, id: 'a' }),
        make(turn, { caller: bob }),
      ];
      for (const config of [b, a, bobs])
        expect(await storage.pushConfigs.put(config, { perTurn: 2, perCaller: 3 })).toBe('kept');
      const put = (config: PushConfig) => storage.pushConfigs.put(config, { perTurn: 2, perCaller: 3 });
      expect(await put(make(turn, { id: 'c', caller: a.caller }))).toBe('perTurn');
      const elsewhere = make(turnOf(), { caller: a.caller });
      expect(await put(elsewhere)).toBe('kept');
      expect(await put(make(turnOf(), { caller: a.caller }))).toBe('perCaller');
      // Another one of the same id is one.
      expect(await put({ ...elsewhere, deliveryId: randomUUID() })).toBe('kept');
      expect(await storage.pushConfigs.list({ turn, caller })).toEqual([a, b]);
      expect((await storage.pushConfigs.deliveriesOf(turn)).toSorted()).toEqual(
        [a, b, bobs].map(({ deliveryId }) => deliveryId).toSorted(),
      );
      await storage.pushConfigs.remove(a);
      await storage.pushConfigs.removeDelivery(b.deliveryId);
      await storage.pushConfigs.removeDelivery(b.deliveryId);
      expect(await storage.pushConfigs.list({ turn, caller })).toEqual([]);
      expect(await storage.pushConfigs.list({ turn, caller: bob })).toEqual([bobs]);
    });
  });
});
