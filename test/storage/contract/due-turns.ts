import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/database.ts';
import type { Subject } from '../contract.ts';
import { begunTurn, newTurn } from './fixtures.ts';

const minuteMs = 60_000;

export function dueTurnsContract(subject: () => Subject): void {
  describe('turns to look after', () => {
    test('one that runs is due again and again, one that has ended until it is merged', async () => {
      await using at = await clock(subject());
      const { storage } = at;
      const running = await begunTurn(storage);
      const ended = await begunTurn(storage);
      await storage.turns.end(ended, 'completed');
      expect(await at.due()).toEqual([]);

      at.pass(minuteMs);
      expect(await at.due()).toEqual([running.turnId, ended.turnId].toSorted());
      expect(await at.due(), 'claimed').toEqual([]);
      await storage.turnLog.merge(ended);
      at.pass(minuteMs);
      expect(await at.due()).toEqual([running.turnId]);

      await storage.turns.end(running, 'failed');
      await storage.turnLog.merge(running);
      at.pass(minuteMs);
      expect(await at.due()).toEqual([]);
    });

    test('one that is merged while it runs is looked at all the same', async () => {
      await using at = await clock(subject());
      const turn = await begunTurn(at.storage);
      await at.storage.turnLog.merge(turn);
      at.pass(minuteMs);
      expect(await at.due()).toEqual([turn.turnId]);
    });

    test('one that has not begun is due only when nobody can be starting it any more', async () => {
      await using at = await clock(subject());
      const turn = newTurn();
      await at.storage.turns.prepare(turn);
      at.pass(20_000);
      expect(await at.due()).toEqual([]);
      at.pass(20_000);
      expect(await at.storage.turns.claimDue(10, minuteMs)).toMatchObject([
        { turnId: turn.turnId, status: 'starting' },
      ]);
    });

    test('two processes never get the same one, and those that wait longest come first', async () => {
      await using at = await clock(subject());
      const [first, second, third] = [
        await begunTurn(at.storage),
        await at.later(begunTurn),
        await at.later(begunTurn),
      ];
      at.pass(minuteMs);
      expect(await at.due(2)).toEqual([first.turnId, second.turnId].toSorted());
      expect(await at.due(2)).toEqual([third.turnId]);

      at.pass(2 * minuteMs);
      const both = await Promise.all([at.due(2), at.due(2), at.due(2, at.other)]);
      expect(both.flat().toSorted()).toEqual([first.turnId, second.turnId, third.turnId].toSorted());
    });
  });
}

/** Two processes on a database of their own, whose clock is set by the test. */
async function clock({ fresh }: Subject) {
  const database = await fresh();
  let at = Date.now();
  const now = () => at;
  const storage = await openStorage(database, { now });
  const other = await openStorage(database, { now });
  return {
    storage,
    other,
    pass: (ms: number) => void (at += ms),
    async due(limit = 10, of = storage) {
      return (await of.turns.claimDue(limit, minuteMs)).map(({ turnId }) => turnId).toSorted();
    },
    later<T>(work: (on: typeof storage) => Promise<T>) {
      at += 1;
      return work(storage);
    },
    async [Symbol.asyncDispose]() {
      await storage.close();
      await other.close();
    },
  };
}
