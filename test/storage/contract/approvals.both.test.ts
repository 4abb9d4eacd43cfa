import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../contract.ts';

onEachDatabase((subject) => {
  describe('remembered approvals', () => {
    const someone = () => ({ tenant: 'acme', user: randomUUID() });
    const tool = { server: 'wiki', place: 'wiki.example', tool: 'erase', definition: 'as listed' };
    const remembered = { createdAt: expect.any(Number) as number };

    test('hold for one user, one tool as it was described and one place, in one conversation or in all', async () => {
      const { storage, other } = subject();
      const user = someone();
      await storage.approvals.remember({ ...user, ...tool, id: randomUUID(), conversation: 'c1' });
      const call = { ...user, ...tool, conversation: 'c1' };
      expect(await other.approvals.isRemembered(call)).toBe(true);
      for (const change of [
        { conversation: 'c2' },
        { user: 'bob' },
        { tenant: 'other' },
        { server: 'other' },
        { place: 'elsewhere.example' },
        { tool: 'read' },
        { definition: 'as listed today' },
      ])
        expect(await other.approvals.isRemembered({ ...call, ...change }), JSON.stringify(change)).toBe(
          false,
        );
      await other.approvals.remember({ ...user, ...tool, id: randomUUID(), conversation: null });
      expect(await storage.approvals.isRemembered({ ...call, conversation: 'c2' })).toBe(true);
    });

    test('are listed once each, and withdrawn with all that say the same', async () => {
      const { storage, other } = subject();
      const user = someone();
      const always = { ...user, ...tool, conversation: null };
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      await storage.approvals.remember({ ...always, id: first });
      await storage.approvals.remember({ ...always, id: second });
      await storage.approvals.remember({ ...always, id: third, conversation: 'c1' });
      const list = await other.approvals.list(user);
      expect(list).toHaveLength(2);
      const entry = list.find(({ conversation }) => conversation === null);
      expect(entry).toEqual({ ...always, id: expect.any(String) as string, ...remembered });
      expect(await other.approvals.withdraw(someone(), entry?.id ?? '')).toBeNull();
      expect(await other.approvals.withdraw(user, entry?.id ?? '')).toEqual(entry);
      expect(await other.approvals.withdraw(user, entry?.id ?? '')).toBeNull();
      expect(await storage.approvals.isRemembered({ ...always, conversation: 'c2' })).toBe(false);
      expect(await storage.approvals.list(user)).toMatchObject([{ id: third, conversation: 'c1' }]);
      // The worker may try to remember it again.
      await storage.approvals.remember({ ...always, id: first });
      expect(await storage.approvals.list(user)).toHaveLength(1);
    });
  });
});
