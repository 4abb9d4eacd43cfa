import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Subject } from '../contract.ts';
import { begunTurn, newTurn } from './fixtures.ts';

export function turnEndingsContract(subject: () => Subject): void {
  describe('a turn that is ending', () => {
    test('is heard of by those who work for it, in every process, and by nobody else', async () => {
      const { storage, other } = subject();
      const [turn, neighbour] = [await begunTurn(storage), await begunTurn(storage)];
      const over = new AbortController();
      const heard = [storage, other].map(({ turns }) => turns.whenEnding(turn, over.signal));
      const unheard = [storage, other].map(({ turns }) => turns.whenEnding(neighbour, over.signal));
      await storage.turns.announceEnd(turn);
      expect(await Promise.all(heard)).toEqual([true, true]);
      over.abort();
      expect(await Promise.all(unheard)).toEqual([false, false]);
    });

    test('is heard of, too, by those who begin to work for it afterwards', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.turns.announceEnd(turn);
      await other.turns.announceEnd(turn);
      const { signal } = new AbortController();
      expect(await other.turns.whenEnding(turn, signal)).toBe(true);
      expect(await storage.turns.whenEnding(turn, signal)).toBe(true);
    });

    test('need not have said so: one that has ended counts as well', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const { signal } = new AbortController();
      const heard = [storage, other].map(({ turns }) => turns.whenEnding(turn, signal));
      await storage.turns.end(turn, 'failed');
      expect(await Promise.all(heard)).toEqual([true, true]);
    });

    test('goes on as it was until its end is written', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turns.announceEnd(turn);
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'running', endedAt: null });
    });

    test('is not waited for once the storage is closed', async () => {
      const { fresh } = subject();
      const storage = await openStorage(await fresh());
      const heard = storage.turns.whenEnding(newTurn(), new AbortController().signal);
      await storage.close();
      expect(await heard).toBe(false);
    });
  });
}
