import { describe, expect, test } from 'vitest';
import type { ElicitationRow } from '../../../src/storage/ports/elicitations.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Subject } from '../contract.ts';
import { begunTurn } from './fixtures.ts';
import { nextMillisecond } from './next-millisecond.ts';
import { question } from './question.ts';

export function openQuestionsContract(subject: () => Subject): void {
  describe('the questions to a user', () => {
    test('are listed from all conversations, newest first, as long as they can be answered', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const elsewhere = await begunTurn(storage, { tenant });
      const [first, second] = [question(turn), question(elsewhere)];
      const settled = question(turn);
      const foreign = await begunTurn(storage);
      for (const row of [
        first,
        settled,
        question(turn, { user: 'bob' }),
        question(foreign),
        question(turn, { deadline: Date.now() - 60_000 }),
      ])
        await storage.elicitations.open(row, { perUser: 20 });
      await nextMillisecond(storage);
      await storage.elicitations.open(second, { perUser: 20 });
      await storage.elicitations.settle(settled.id, 'decline', null);
      const open = await storage.elicitations.openOf({ tenant, user: 'alice' });
      expect(open.map(({ id }) => id)).toEqual([second.id, first.id]);
      expect(await storage.elicitations.openOf({ tenant, user: 'nobody' })).toEqual([]);
    });

    test('are at most the newest hundred', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const rows = Array.from({ length: 101 }, () => question(turn));
      for (const row of rows) await storage.elicitations.open(row, { perUser: 200 });
      expect(await storage.elicitations.openOf({ tenant: turn.tenant, user: 'alice' })).toHaveLength(100);
    });

    test('are told as they are, and then each as it opens and as it is settled, by whatever process', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const elsewhere = await begunTurn(storage, { tenant });
      const [first, second] = [question(turn), question(elsewhere)];
      await storage.elicitations.open(first, { perUser: 20 });
      const readers = [storage, other].map((of) => follow(of, tenant));
      for (const reader of readers) expect(await reader.next()).toEqual([first.id, 'pending']);

      await storage.elicitations.open(question(turn, { user: 'bob' }), { perUser: 20 });
      await other.elicitations.open(second, { perUser: 20 });
      for (const reader of readers) expect(await reader.next()).toEqual([second.id, 'pending']);
      await storage.elicitations.settle(first.id, 'accept', 'r');
      for (const reader of readers) expect(await reader.next()).toEqual([first.id, 'accept']);
      await other.turns.end(elsewhere, 'cancelled');
      for (const reader of readers) expect(await reader.next()).toEqual([second.id, 'cancel']);
      for (const reader of readers) {
        const last = reader.next();
        reader.stop();
        expect(await last).toBeUndefined();
      }
    });

    test('are read before anything happens, also when there are none', async () => {
      const { storage } = subject();
      const { tenant } = await begunTurn(storage);
      const abort = new AbortController();
      const batches = storage.elicitations.followOf({ tenant, user: 'alice' }, abort.signal);
      for await (const batch of batches) {
        expect(batch).toEqual([]);
        abort.abort();
      }
    });

    test('are told once each, however many open and close at once', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const reader = follow(other, turn.tenant);
      const rows = Array.from({ length: 40 }, () => question(turn));
      const opening = Promise.all(
        rows.map((row, index) =>
          (index % 2 === 0 ? storage : other).elicitations.open(row, { perUser: 100 }),
        ),
      );
      const told: Record<string, string[]> = {};
      const readUntil = async (status: string) => {
        while (Object.values(told).filter((seen) => seen.at(-1) === status).length < rows.length) {
          const [id = '', now = ''] = (await reader.next()) ?? [];
          (told[id] ??= []).push(now);
        }
      };
      await Promise.all([opening, readUntil('pending')]);
      const settling = rows.map((row, index) =>
        (index % 3 === 0 ? other : storage).elicitations.settle(row.id, 'decline', null),
      );
      await Promise.all([...settling, readUntil('decline')]);
      expect(Object.values(told)).toEqual(rows.map(() => ['pending', 'decline']));
      reader.stop();
    });
  });
}

function follow({ elicitations }: Storage, tenant: string) {
  const abort = new AbortController();
  const batches = elicitations.followOf({ tenant, user: 'alice' }, abort.signal);
  const rows = (async function* () {
    for await (const batch of batches) yield* batch;
  })();
  return {
    async next(): Promise<[id: string, status: string] | undefined> {
      const { value } = (await rows.next()) as { value: ElicitationRow | undefined };
      return value && [value.id, value.status];
    },
    stop: () => abort.abort(),
  };
}
