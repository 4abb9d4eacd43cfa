import { describe, expect, test } from 'vitest';
import type { ElicitationRow } from '../../../src/storage/schema/question-tables.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn } from './fixtures.ts';
import { nextMillisecond } from './clock.ts';
import { answer, formQuestion, open } from './question.ts';

onEachDatabase((subject) => {
  describe('the questions to a user', () => {
    test('are listed from all conversations, newest first, as long as they can be answered', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const elsewhere = await begunTurn(storage, { tenant });
      const [first, second] = [formQuestion(turn), formQuestion(elsewhere)];
      const settled = formQuestion(turn);
      const foreign = await begunTurn(storage);
      for (const row of [
        first,
        settled,
        formQuestion(turn, { user: 'bob' }),
        formQuestion(foreign),
        formQuestion(turn, { timeoutMs: -60_000 }),
      ])
        await open(storage, row);
      await nextMillisecond(storage);
      await open(storage, second);
      await answer(storage, settled, 'decline');
      const found = await storage.elicitations.openOf({ tenant, user: 'alice' });
      expect(found.map(({ id }) => id)).toEqual([second.id, first.id]);
      expect(await storage.elicitations.openOf({ tenant, user: 'nobody' })).toEqual([]);
    });

    test('are at most the newest hundred', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const rows = Array.from({ length: 101 }, () => formQuestion(turn));
      await open(storage, rows, { perUser: 200 });
      expect(await storage.elicitations.openOf({ tenant: turn.tenant, user: 'alice' })).toHaveLength(100);
    });

    test('are told as they are, and then each as it opens and as it is settled, by whatever process', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const { tenant } = turn;
      const elsewhere = await begunTurn(storage, { tenant });
      const [first, second] = [formQuestion(turn), formQuestion(elsewhere)];
      await open(storage, first);
      const readers = [storage, other].map((of) => follow(of, tenant));
      for (const reader of readers) expect(await reader.next()).toEqual([first.id, 'pending']);

      await open(storage, formQuestion(turn, { user: 'bob' }));
      await open(other, second);
      for (const reader of readers) expect(await reader.next()).toEqual([second.id, 'pending']);
      await answer(storage, first, 'accept');
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
      const rows = Array.from({ length: 40 }, () => formQuestion(turn));
      const opening = Promise.all(
        rows.map((row, index) => open(index % 2 === 0 ? storage : other, row, { perUser: 100 })),
      );
      const told: Record<string, string[]> = {};
      const readUntil = async (status: string) => {
        while (Object.values(told).filter((seen) => seen.at(-1) === status).length < rows.length) {
          const [id = '', now = ''] = (await reader.next()) ?? [];
          (told[id] ??= []).push(now);
        }
      };
      await Promise.all([opening, readUntil('pending')]);
      const settling = rows.map((row, index) => answer(index % 3 === 0 ? other : storage, row, 'decline'));
      await Promise.all([...settling, readUntil('decline')]);
      expect(Object.values(told)).toEqual(rows.map(() => ['pending', 'decline']));
      reader.stop();
    });
  });
});

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
