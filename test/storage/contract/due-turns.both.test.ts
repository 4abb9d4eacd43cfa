import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { begunTurn, newTurn, ending } from './fixtures.ts';

const minuteMs = 60_000;

onEachDatabase((subject) => {
  describe('turns to look after', () => {
    test('one that runs is due again and again, one that has ended until it is merged', async () => {
      await using at = await openClock(subject());
      const { storage } = at;
      const running = await begunTurn(storage);
      const ended = await begunTurn(storage);
      await storage.turns.end(ended, 'completed');
      expect(await due(at.storage)).toEqual([]);

      at.pass(minuteMs);
      expect(await due(at.storage)).toEqual([running.turnId, ended.turnId].toSorted());
      expect(await due(at.storage), 'claimed').toEqual([]);
      await storage.turnLog.merge(ended);
      at.pass(minuteMs);
      expect(await due(at.storage)).toEqual([running.turnId]);

      await storage.turns.end(running, 'failed');
      await storage.turnLog.merge(running);
      at.pass(minuteMs);
      expect(await due(at.storage)).toEqual([]);
    });

    test('one that is merged while it runs is looked at all the same', async () => {
      await using at = await openClock(subject());
      const turn = await begunTurn(at.storage);
      await at.storage.turnLog.merge(turn);
      at.pass(minuteMs);
      expect(await due(at.storage)).toEqual([turn.turnId]);
    });

    test('one that has not begun is due only when nobody can be starting it any more', async () => {
      await using at = await openClock(subject());
      const turn = newTurn();
      await at.storage.turns.prepare(turn, ending);
      at.pass(20_000);
      expect(await due(at.storage)).toEqual([]);
      at.pass(20_000);
      expect(await at.storage.turns.claimDue(10, minuteMs)).toMatchObject([
        { turnId: turn.turnId, status: 'starting' },
      ]);
    });

    test('two processes never get the same one, and those that wait longest come first', async () => {
      await using at = await openClock(subject());
      const [first, second, third] = [
        await begunTurn(at.storage),
        await later(at, begunTurn),
        await later(at, begunTurn),
      ];
      at.pass(minuteMs);
      expect(await due(at.storage, 2)).toEqual([first.turnId, second.turnId].toSorted());
      expect(await due(at.storage, 2)).toEqual([third.turnId]);

      at.pass(2 * minuteMs);
      const both = await Promise.all([due(at.storage, 2), due(at.storage, 2), due(at.other, 2)]);
      expect(both.flat().toSorted()).toEqual([first.turnId, second.turnId, third.turnId].toSorted());
    });
  });
});

async function due({ turns }: Storage, limit = 10): Promise<string[]> {
  return (await turns.claimDue(limit, minuteMs)).map(({ turnId }) => turnId).toSorted();
}

function later<T>(at: Clock, work: (storage: Storage) => Promise<T>): Promise<T> {
  at.pass(1);
  return work(at.storage);
}
