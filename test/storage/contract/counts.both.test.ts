import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Limit } from '../../../src/storage/counts.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, ending, newTurn, refuseWhileBusy } from './fixtures.ts';
import { formQuestion, open } from './question.ts';

const limitOf = (per: Limit['per'], max: number): Limit => ({ name: `test ${randomUUID()}`, max, per });

onEachDatabase((subject) => {
  describe('limits', () => {
    test('what processes count counts for all, and a place that is given back is free for all', async () => {
      const { storage, other } = subject();
      const limits = (['minute', 'day', 'now'] as const).map((per) => limitOf(per, 3));
      for (const limit of limits) {
        storage.counts.add(limit, 2);
        other.counts.add(limit);
      }
      const waits = ({ counts }: Storage) => limits.map((limit) => counts.waitFor(limit));
      for (const one of [storage, other]) await expect.poll(() => waits(one)).not.toContain(null);
      const [minute = Infinity, day = Infinity] = waits(storage);
      expect(minute).toBeLessThanOrEqual(60_000);
      expect(day).toBeLessThanOrEqual(86_400_000);
      for (const limit of limits) other.counts.add(limit, -1);
      await expect.poll(() => waits(storage)[2]).toBeNull();
    });

    test('a user has so many live turns, and a new message in a conversation takes no further place', async () => {
      const { storage, other } = subject();
      const limits = { ofUser: 2 };
      const first = newTurn();
      const of = { tenant: first.tenant };
      const turns = [first, newTurn(of), newTurn(of)];
      const start = (turn = newTurn(of), on = storage) => on.turns.prepare(turn, ending, undefined, limits);
      // Both processes at once: one of three is too many.
      const prepared = await Promise.all(turns.map((turn, at) => start(turn, at === 0 ? storage : other)));
      const kinds = prepared.map(({ kind }) => kind);
      expect(kinds.toSorted()).toEqual(['prepared', 'prepared', 'too-many-turns']);
      expect(await start(newTurn({ ...of, user: 'bob' }))).toMatchObject({ kind: 'prepared' });
      expect(await start()).toEqual({ kind: 'too-many-turns', of: 'user' });

      const live = turns.find((_, index) => kinds[index] === 'prepared') ?? first;
      await storage.turns.begin(live);
      const next = newTurn({ ...of, conversation: live.conversation });
      expect(await start(next)).toMatchObject({ kind: 'prepared', replaced: { turnId: live.turnId } });
    });

    test('a tenant has so many live turns; a repeated message is known, also when the tokens are spent', async () => {
      const { storage } = subject();
      const first = newTurn();
      const of = { tenant: first.tenant };
      const refused = { ofTenant: 1 };
      await storage.turns.prepare(first, refuseWhileBusy);
      const another = newTurn({ ...of, user: 'bob' });
      expect(await storage.turns.prepare(another, ending, undefined, refused)).toEqual({
        kind: 'too-many-turns',
        of: 'tenant',
      });
      expect(await storage.turns.conversation(another)).toBeNull();
      const spent = { spent: 'user' as const };
      const again = { ...first, turnId: `again-${first.turnId}` };
      expect(await storage.turns.prepare(again, ending, undefined, spent)).toEqual({ kind: 'known' });
      expect(await storage.turns.prepare(newTurn(of), ending, undefined, spent)).toEqual({
        kind: 'tokens-spent',
        of: 'user',
      });
    });

    test('turns that no worker has begun are counted, and those of each tenant', async () => {
      const { storage } = subject();
      const { turns: before } = await storage.turns.starting(1_000);
      const turn = newTurn();
      await storage.turns.prepare(turn, ending);
      await storage.turns.prepare(newTurn({ tenant: turn.tenant }), ending);
      await begunTurn(storage);
      const starting = await storage.turns.starting(1_000);
      expect(starting).toMatchObject({ turns: before + 2, areTenantsSeveral: true });
      expect(starting.ofTenant.get(turn.tenant)).toBe(2);
      expect(await storage.turns.starting(1)).toMatchObject({ turns: 1 });
      await storage.turns.begin(turn);
      expect(await storage.turns.starting(1_000)).toMatchObject({ turns: before + 1 });
    });

    test('a tenant has so many open questions', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const other = await begunTurn(storage, { tenant: turn.tenant, user: 'bob' });
      await open(storage, formQuestion(turn), { perUser: 5, perTenant: 1 });
      const second = formQuestion(other, { user: 'bob' });
      expect(await open(storage, second, { perUser: 5, perTenant: 1 })).toEqual({
        kind: 'too-many-in-tenant',
      });
      expect(await open(storage, second, { perUser: 5, perTenant: 2 })).toMatchObject({ kind: 'opened' });
    });
  });
});
