import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../contract.ts';

onEachDatabase((subject) => {
  const alice = () => ({ tenant: randomUUID(), server: 'tracker', user: 'alice' });
  const secrets = {
    store: 'oauth',
    account: 'alice@example.com',
    scopes: ['read'],
    sealed: 's1',
    freshUntil: 100,
  };

  describe('people on their way to an account', () => {
    test('are known by their id and by whose account it is, until their time is over or nobody wants it', async () => {
      const { storage } = subject();
      const key = alice();
      const now = Date.now();
      const attempt = (more: { createdAt: number; expiresAt?: number }) => ({
        ...key,
        id: randomUUID(),
        elicitationId: null,
        actor: 'alice',
        expiresAt: now + 60_000,
        ...more,
      });
      const older = attempt({ createdAt: now - 2 });
      const newer = { ...attempt({ createdAt: now - 1 }), elicitationId: 'q1' };
      const over = attempt({ createdAt: now, expiresAt: now - 60_000 });
      const shared = { ...attempt({ createdAt: now }), user: null };
      for (const one of [older, newer, over, shared]) await storage.connectAttempts.save(one);
      expect(await storage.connectAttempts.openOf(key)).toEqual([newer, older]);
      expect(await storage.connectAttempts.openOf({ ...key, user: null })).toEqual([shared]);
      expect(await storage.connectAttempts.get(newer.id)).toEqual(newer);
      expect(await storage.connectAttempts.get(over.id)).toBeNull();
      const { tenant } = key;
      expect(await storage.connectAttempts.isUnderway({ tenant, actor: 'alice' })).toBe(true);
      expect(await storage.connectAttempts.isUnderway({ tenant, actor: 'bob' })).toBe(false);
      await storage.connectAttempts.dropOf(key);
      expect(await storage.connectAttempts.openOf(key)).toEqual([]);
      expect(await storage.connectAttempts.get(older.id)).toBeNull();
      expect(await storage.connectAttempts.get(shared.id)).toEqual(shared);
    });
  });

  describe('connections', () => {
    test('each successful connect is the next version, also at the same moment', async () => {
      const { storage, other } = subject();
      const key = alice();
      const versions = await Promise.all(
        [storage, other, storage, other].map(({ connections }) => connections.establish(key, secrets)),
      );
      expect(versions.toSorted()).toEqual([1, 2, 3, 4]);
      expect(await storage.connections.get(key)).toEqual({
        ...key,
        ...secrets,
        version: 4,
        status: 'active',
        brokenReason: null,
        troubledAt: null,
        createdAt: expect.any(Number),
        updatedAt: expect.any(Number),
      });
    });

    test('trouble is remembered of one version, and forgotten with the next', async () => {
      const { storage } = subject();
      const key = alice();
      await storage.connections.establish(key, secrets);
      const since = async () => (await storage.connections.get(key))?.troubledAt;
      await storage.connections.markTroubled(key, 2, 5);
      expect(await since()).toBeNull();
      await storage.connections.markTroubled(key, 1, 5);
      expect(await since()).toBe(5);
      await storage.connections.markTroubled(key, 1, null);
      expect(await since()).toBeNull();
      await storage.connections.markTroubled(key, 1, 5);
      await storage.connections.establish(key, secrets);
      expect(await since()).toBeNull();
    });

    test('a removed connection is gone, but its versions are not counted again', async () => {
      const { storage } = subject();
      const key = alice();
      expect(await storage.connections.lastVersion(key)).toBe(0);
      await storage.connections.establish(key, secrets);
      expect(await storage.connections.remove(key)).toMatchObject({ ...key, ...secrets, version: 1 });
      expect(await storage.connections.remove(key)).toBeNull();
      expect(await storage.connections.get(key)).toBeNull();
      expect(await storage.connections.lastVersion(key)).toBe(1);
      expect(await storage.connections.list(key)).toEqual([]);
      expect(await storage.connections.markBroken(key, 1, 'revoked')).toBe(false);
      expect(await storage.connections.establish(key, secrets)).toBe(2);
    });

    test('a connection that two remove at the same moment is handed to one of them', async () => {
      const { storage, other } = subject();
      const key = alice();
      await storage.connections.establish(key, secrets);
      const removed = await Promise.all(
        [storage, other, storage, other].map(({ connections }) => connections.remove(key)),
      );
      expect(removed.filter((row) => row !== null)).toMatchObject([secrets]);
    });

    test('secrets refreshed from a connection that was removed meanwhile do not bring it back', async () => {
      const { storage } = subject();
      const key = alice();
      await storage.connections.establish(key, secrets);
      const row = (await storage.connections.get(key))!;
      await storage.connections.remove(key);
      const next = { sealed: 's2', freshUntil: 200, scopes: [] };
      expect(await storage.connections.refresh(row, next)).toBe(false);
      expect(await storage.connections.refresh({ ...row, sealed: '' }, next)).toBe(false);
      expect(await storage.connections.get(key)).toBeNull();
    });

    test('refreshed secrets replace only the secrets they were made from', async () => {
      const { storage } = subject();
      const key = alice();
      await storage.connections.establish(key, secrets);
      const row = (await storage.connections.get(key))!;
      const next = (sealed: string) => ({ sealed, freshUntil: 200, scopes: ['read', 'write'] });
      expect(await storage.connections.refresh(row, next('s2'))).toBe(true);
      expect(await storage.connections.refresh(row, next('s3'))).toBe(false);
      const refreshed = (await storage.connections.get(key))!;
      expect(refreshed).toMatchObject({ ...next('s2'), version: 1 });
      await storage.connections.establish(key, { ...secrets, sealed: 's2' });
      expect(await storage.connections.refresh(refreshed, next('s4'))).toBe(false);
    });

    test('only the current version can be marked as broken, until it is connected again', async () => {
      const { storage } = subject();
      const key = alice();
      await storage.connections.establish(key, secrets);
      await storage.connections.establish(key, secrets);
      expect(await storage.connections.markBroken(key, 1, 'rejected')).toBe(false);
      expect(await storage.connections.markBroken(key, 2, 'insufficient_scope')).toBe(true);
      expect(await storage.connections.markBroken(key, 2, 'rejected')).toBe(false);
      expect(await storage.connections.get(key)).toMatchObject({
        status: 'broken',
        brokenReason: 'insufficient_scope',
      });
      await storage.connections.establish(key, secrets);
      expect(await storage.connections.get(key)).toMatchObject({ status: 'active', brokenReason: null });
    });

    test("a user's, another user's and the tenant's connection are three", async () => {
      const { storage } = subject();
      const { tenant, server } = alice();
      for (const user of ['alice', 'bob', null]) {
        expect(await storage.connections.establish({ tenant, server, user }, secrets)).toBe(1);
      }
      for (const user of ['alice', null]) {
        const listed = await storage.connections.list({ tenant, user });
        expect(listed.map((row) => [row.server, row.user])).toEqual([[server, user]]);
      }
    });

    test('work under a lock never overlaps, and locks of different accounts do not wait for each other', async () => {
      const { storage, other } = subject();
      const key = alice();
      let inside = 0;
      const order: number[] = [];
      const work = Array.from({ length: 6 }, (_, index) =>
        (index % 2 === 0 ? storage : other).connections.withLock(key, 10_000, async () => {
          inside += 1;
          expect(inside).toBe(1);
          await storage.connections.withLock(alice(), 1_000, () => storage.ping());
          order.push(index);
          inside -= 1;
        }),
      );
      await Promise.all(work);
      expect(order.toSorted()).toEqual([0, 1, 2, 3, 4, 5]);
      expect(order.filter((index) => index % 2 === 0)).toEqual([0, 2, 4]);
    });

    test('who cannot get a lock in time is told, and it is free again after work that failed', async () => {
      const { storage, other } = subject();
      const key = alice();
      const held = Promise.withResolvers<void>();
      const done = Promise.withResolvers<void>();
      const holder = storage.connections.withLock(key, 1_000, async () => {
        held.resolve();
        await done.promise;
        throw new Error('the work failed');
      });
      await held.promise;
      for (const { connections } of [storage, other]) {
        const work = connections.withLock(key, 50, () => Promise.resolve());
        await expect(work).rejects.toThrow('held the lock for more than 50 ms');
      }
      const waiting = other.connections.withLock(key, 10_000, () => Promise.resolve('mine'));
      done.resolve();
      await expect(holder).rejects.toThrow('the work failed');
      expect(await waiting).toBe('mine');
    });
  });
});
