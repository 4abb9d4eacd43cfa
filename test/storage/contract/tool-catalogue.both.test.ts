import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CatalogueTool, ToolList } from '../../../src/storage/schema/account-tables.ts';
import { onEachDatabase } from '../contract.ts';
import { nextMillisecond } from './clock.ts';

const tool = (name: string): CatalogueTool => ({ name, inputSchema: { type: 'object' } });
const list = (name: string, more: Partial<ToolList> = {}): ToolList => ({
  tools: [tool(name)],
  audience: 'tenant',
  freshMs: null,
  ...more,
});

onEachDatabase((subject) => {
  describe('tools of servers', () => {
    function newTenant() {
      const { storage, other } = subject();
      const tenant = randomUUID();
      const of = (user: string | null, server = 'tracker') => ({ tenant, server, user });
      return {
        of,
        put: (user: string | null, kept: ToolList) => storage.toolCatalogue.put(of(user), kept),
        get: (user: string | null) => other.toolCatalogue.get(of(user)),
      };
    }

    test('are kept per tenant, server and user, and the newest replaces what was there', async () => {
      const { of, put, get } = newTenant();
      const annotations = { readOnlyHint: true };
      await put('alice', list('old', { freshMs: 1 }));
      const kept = { tools: [{ ...tool('new'), annotations }], audience: 'user', freshMs: 5_000 } as const;
      await put('alice', { ...kept, tools: [...kept.tools] });
      expect(await get('alice')).toEqual({ ...kept, isOwn: true, updatedAt: expect.any(Number) });
      const { toolCatalogue } = subject().storage;
      expect(await toolCatalogue.get(of('alice', 'other'))).toBeNull();
      expect(await toolCatalogue.get({ ...of('alice'), tenant: randomUUID() })).toBeNull();
    });

    test('are for a user without a list the newest ones that everybody may see', async () => {
      const { put, get } = newTenant();
      await put('alice', list('of-alice'));
      await nextMillisecond(subject().storage);
      await put('bob', list('of-bob'));
      await nextMillisecond(subject().storage);
      await put('carol', list('of-carol', { audience: 'user' }));
      expect(await get('dave')).toMatchObject({ ...list('of-bob'), isOwn: false });
      expect(await get(null)).toMatchObject({ ...list('of-bob'), isOwn: false });
      expect(await get('alice')).toMatchObject({ ...list('of-alice'), isOwn: true });
      expect(await get('carol')).toMatchObject({ tools: [tool('of-carol')], isOwn: true });
    });

    test('that are for one user only are nobody else’s', async () => {
      const { put, get } = newTenant();
      await put('alice', list('secret', { audience: 'user' }));
      expect(await get('bob')).toBeNull();
      expect(await get(null)).toBeNull();
    });
  });
});
