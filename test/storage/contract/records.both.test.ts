import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../contract.ts';

onEachDatabase((subject) => {
  describe('smaller records', () => {
    test('an OAuth attempt can be taken once, and not after its time', async () => {
      const { storage, other } = subject();
      const attempt = {
        stateHash: randomUUID(),
        elicitationId: 'e',
        sessionHash: 's',
        sealed: 'x',
        expiresAt: Date.now() + 60_000,
      };
      const expired = { ...attempt, stateHash: randomUUID() };
      const unasked = { ...attempt, stateHash: randomUUID(), elicitationId: null };
      await storage.oauth.saveAttempt(unasked);
      expect(await storage.oauth.takeAttempt(unasked.stateHash, Date.now())).toEqual(unasked);
      await storage.oauth.saveAttempt(attempt);
      await storage.oauth.saveAttempt(expired);
      const taken = await Promise.all(
        [storage, other, storage].map(({ oauth }) => oauth.takeAttempt(attempt.stateHash, Date.now())),
      );
      expect(taken.filter((row) => row !== null)).toEqual([attempt]);
      expect(await storage.oauth.takeAttempt(expired.stateHash, expired.expiresAt)).toBeNull();
      expect(await storage.oauth.takeAttempt(expired.stateHash, 0)).toBeNull();
      expect(await storage.oauth.takeAttempt('unknown', 0)).toBeNull();
    });

    test('what is known about a server can be replaced and forgotten', async () => {
      const { storage } = subject();
      const key = randomUUID();
      expect(await storage.oauth.recall(key)).toBeNull();
      await storage.oauth.remember(key, 'a');
      await storage.oauth.remember(key, 'b');
      expect(await storage.oauth.recall(key)).toEqual({ sealed: 'b', updatedAt: expect.any(Number) });
      await storage.oauth.forget(key);
      expect(await storage.oauth.recall(key)).toBeNull();
    });

    test('an Idempotency-Key means what it was first used for, for a day', async () => {
      const { storage, other } = subject();
      const use = {
        tenant: 'acme',
        user: 'alice',
        key: randomUUID(),
        fingerprint: 'one',
        conversation: 'c1',
        clientMessageId: 'm1',
      };
      const later = { ...use, fingerprint: 'two', conversation: 'c2', clientMessageId: 'm2' };
      const both = await Promise.all([
        storage.idempotencyKeys.claim(use),
        other.idempotencyKeys.claim(later),
      ]);
      expect(both[0]).toEqual(both[1]);
      expect([use, later]).toContainEqual(both[0]);
      expect(await storage.idempotencyKeys.claim(later)).toEqual(both[0]);
      // Each user and each service has keys of their own.
      for (const owner of [
        { user: 'bob' },
        { user: null },
        { user: null, service: 'billing' },
        { user: null, service: 'reports' },
        { tenant: 'other' },
      ]) {
        const theirs = { ...later, ...owner };
        expect(await storage.idempotencyKeys.claim(theirs)).toEqual(theirs);
      }
    });

    test('a request that is said to be new takes the place of an earlier one like it', async () => {
      const { storage } = subject();
      const use = {
        tenant: 'acme',
        user: null,
        key: randomUUID(),
        fingerprint: 'one',
        conversation: 'c1',
        clientMessageId: 'm1',
      };
      await storage.idempotencyKeys.claim(use);
      const again = { ...use, conversation: 'c2', clientMessageId: 'm2' };
      expect(await storage.idempotencyKeys.claim(again, { isNew: true })).toEqual(again);
      expect(await storage.idempotencyKeys.claim(use)).toEqual(again);
    });

    test('an earlier use counts for as long as the caller says', async () => {
      const { storage } = subject();
      const use = {
        tenant: 'acme',
        user: 'alice',
        key: randomUUID(),
        fingerprint: 'one',
        conversation: 'c1',
        clientMessageId: 'm1',
      };
      await storage.idempotencyKeys.claim(use);
      const later = { ...use, conversation: 'c2' };
      expect(await storage.idempotencyKeys.claim(later, { withinMs: 60_000 })).toEqual(use);
      // Older than a moment that has not come yet.
      expect(await storage.idempotencyKeys.claim(later, { withinMs: -60_000 })).toEqual(later);
    });

    test('an API key is found by its id', async () => {
      const { storage } = subject();
      const key = { id: randomUUID(), tenant: 'acme', service: 'billing', hash: 'hash', createdBy: 'carol' };
      await storage.apiKeys.create(key);
      expect(await storage.apiKeys.get(key.id)).toMatchObject({ ...key, lastUsedAt: null, revokedAt: null });
      expect(await storage.apiKeys.get('unknown')).toBeNull();
      await expect(storage.apiKeys.create(key)).rejects.toThrow(/unique/i);
    });

    test('API keys are listed by tenant; one that is revoked is so for everybody at once, and stays', async () => {
      const { storage, other } = subject();
      const tenant = randomUUID();
      const ids = [randomUUID(), randomUUID()];
      for (const id of ids)
        await storage.apiKeys.create({ id, tenant, service: id, hash: 'hash', createdBy: null });
      await storage.apiKeys.used(ids[0]!);
      expect(await other.apiKeys.revoke(ids[0]!)).toBe(true);
      const revoked = await storage.apiKeys.get(ids[0]!);
      expect(revoked).toMatchObject({ lastUsedAt: expect.any(Number), revokedAt: expect.any(Number) });
      expect(await other.apiKeys.revoke(ids[0]!)).toBe(true);
      expect(await storage.apiKeys.get(ids[0]!)).toEqual(revoked);
      expect((await storage.apiKeys.list(tenant)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect((await storage.apiKeys.list(null)).length).toBeGreaterThanOrEqual(2);
      expect(await storage.apiKeys.revoke('unknown')).toBe(false);
    });

    test('the audit of a question is in the order of time', async () => {
      const { storage } = subject();
      const elicitationId = randomUUID();
      const entry = (at: number, action: 'refused' | 'answered', actor: string | null) => ({
        at,
        tenant: 'acme',
        elicitationId,
        actor,
        action,
        detail: 'accept',
        address: null,
      });
      const entries = [entry(1, 'refused', 'bob'), entry(2, 'answered', 'alice'), entry(3, 'refused', null)];
      for (const index of [1, 0, 2]) await storage.audit.record(entries[index]!);
      expect(await storage.audit.ofElicitation(elicitationId)).toEqual(entries);
    });

    test('the tools that clients may call are those that a worker said last of their agents', async () => {
      const { storage } = subject();
      const tool = (name: string, agent = 'assistant') => ({
        name,
        agent,
        title: name,
        description: `Does ${name}`,
        inputSchema: { type: 'object' },
        annotations: { readOnlyHint: true },
      });
      await storage.exposedTools.replace(
        ['assistant', 'desk'],
        [tool('search'), tool('book'), tool('file', 'desk')],
      );
      await storage.exposedTools.replace(['assistant'], [tool('delete'), tool('book')]);
      const others = [tool('book'), tool('delete'), tool('file', 'desk')];
      expect(await storage.exposedTools.list()).toEqual(others);
      await storage.exposedTools.replace(['library'], [tool('book', 'library')]);
      expect(await storage.exposedTools.list()).toEqual([
        tool('book'),
        tool('book', 'library'),
        ...others.slice(1),
      ]);
      await storage.exposedTools.replace(['assistant', 'desk', 'library'], []);
      expect(await storage.exposedTools.list()).toEqual([]);
    });
  });
});
