import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, newTurn } from './fixtures.ts';

onEachDatabase((subject) => {
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

    test('begins no model step and no call, and is not completed once it was cancelled', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const [kept, next] = [
        { step: 0, attempt: 1 },
        { step: 1, attempt: 1 },
      ];
      const calls = [{ toolCallId: 'c1', toolName: 'tracker__list', input: {} }];
      await storage.steps.keep(turn, kept, {
        finish: 'tool-calls',
        usage: { inputTokens: 1, outputTokens: 1 },
        messages: [],
        events: [],
        calls,
      });
      await other.turns.cancel(turn);
      const over = { name: 'WriteRefused', reason: 'turn-ended' };
      await expect(storage.steps.begin(turn, next)).rejects.toMatchObject(over);
      await expect(storage.steps.begin(turn, { ...next, attempt: 2 })).rejects.toMatchObject(over);
      await expect(storage.toolCalls.start(turn, 'c1', { execution: 0, attempt: 1 })).rejects.toMatchObject(
        over,
      );
      expect(await storage.steps.begin(turn, kept)).toEqual({ kind: 'kept', finish: 'tool-calls' });
      expect(await storage.turns.end(turn, 'completed', { isOwn: true })).toMatchObject({
        status: 'cancelled',
      });
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'cancelled' });
      const last = (await storage.turnLog.read(turn, 1)).at(-1)?.event;
      expect(last).toMatchObject({ type: 'turn-ended', status: 'cancelled' });
    });

    test('is not waited for once the storage is closed', async () => {
      const { fresh } = subject();
      const storage = await openStorage(await fresh());
      const heard = storage.turns.whenEnding(newTurn(), new AbortController().signal);
      await storage.close();
      expect(await heard).toBe(false);
    });
  });
});
