import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, deltas, newTurn, seqs, text, upTo, ending } from './fixtures.ts';

onEachDatabase((subject) => {
  describe('the turn log', () => {
    test('keeps events in order and numbers them from 1', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, [text('a'), text('b')]);
      await storage.turnLog.append(turn, [text('c')]);
      const common = { turnId: turn.turnId, at: expect.closeTo(Date.now(), -5) };
      expect(await storage.turnLog.read(turn, 0)).toEqual([
        {
          seq: 1,
          ...common,
          event: { type: 'turn-started', agent: 'assistant', messageId: turn.turnId },
        },
        { seq: 2, ...common, event: { type: 'text-delta', id: 'part', delta: 'a' } },
        { seq: 3, ...common, event: { type: 'text-delta', id: 'part', delta: 'b' } },
        { seq: 4, ...common, event: { type: 'text-delta', id: 'part', delta: 'c' } },
      ]);
    });

    test('is read from a cursor and up to a limit', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(
        turn,
        ['a', 'b', 'c', 'd'].map((key) => text(key)),
      );
      expect((await storage.turnLog.read(turn, 2, 2)).map(({ seq }) => seq)).toEqual([3, 4]);
      expect(await storage.turnLog.read(turn, 5)).toEqual([]);
    });

    test('appending a key again changes nothing and takes no number', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, [text('a', 'first')]);
      await storage.turnLog.append(turn, [text('a', 'second')]);
      await storage.turnLog.append(turn, [text('b')]);
      expect(await deltas(storage, turn)).toEqual(['first', 'b']);
      expect(await seqs(storage, turn)).toEqual(upTo(3));
    });

    test('of a batch that was partly written before, only the new events are added', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, [text('b'), text('d')]);
      await storage.turnLog.append(
        turn,
        ['a', 'b', 'c', 'c', 'd', 'e'].map((key) => text(key)),
      );
      expect(await deltas(storage, turn)).toEqual(['b', 'd', 'a', 'c', 'e']);
      expect(await seqs(storage, turn)).toEqual(upTo(6));
    });

    test('the same key in two turns of a conversation is two events', async () => {
      const { storage } = subject();
      const first = await begunTurn(storage);
      await storage.turnLog.append(first, [text('a')]);
      await storage.turns.end(first, 'completed');
      const { tenant, conversation } = first;
      const second = await begunTurn(storage, { tenant, conversation });
      await storage.turnLog.append(second, [text('a')]);
      expect(await deltas(storage, first)).toEqual(['a', 'a']);
      expect(await seqs(storage, first)).toEqual(upTo(5));
      expect(await storage.turnLog.startOf(first)).toBe(0);
      expect(await storage.turnLog.startOf(second)).toBe(3);
    });

    test('has no start of a turn that has not begun', async () => {
      const { storage } = subject();
      const turn = newTurn();
      await storage.turns.prepare(turn, ending);
      expect(await storage.turnLog.startOf(turn)).toBeNull();
    });

    test('eight writers at once leave no gap, lose nothing, and keep each one in order', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const writers = Array.from({ length: 8 }, async (_, writer) => {
        const { turnLog } = writer % 2 === 0 ? storage : other;
        for (let batch = 0; batch < 10; batch++) {
          const size = 1 + ((writer + batch) % 3);
          await turnLog.append(
            turn,
            upTo(size).map((part) => text(`${writer}/${batch}/${part}`)),
          );
        }
      });
      await Promise.all(writers);

      const written = await deltas(storage, turn);
      expect(await seqs(storage, turn)).toEqual(upTo(written.length + 1));
      for (let writer = 0; writer < 8; writer++) {
        const expected = Array.from({ length: 10 }, (_, batch) =>
          upTo(1 + ((writer + batch) % 3)).map((part) => `${writer}/${batch}/${part}`),
        ).flat();
        expect(written.filter((delta) => delta.startsWith(`${writer}/`))).toEqual(expected);
      }
    });

    test('writers that repeat each other leave each event once', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const batch = ['a', 'b', 'c', 'd'].map((key) => text(key));
      await Promise.all(
        [storage, other, storage, other].map(({ turnLog }, index) =>
          turnLog.append(turn, batch.slice(index)),
        ),
      );
      expect((await deltas(storage, turn)).toSorted()).toEqual(['a', 'b', 'c', 'd']);
      expect(await seqs(storage, turn)).toEqual(upTo(5));
    });

    test('a batch larger than one statement can carry is still one append', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const keys = upTo(1234).map((number) => `${number}`);
      await storage.turnLog.append(
        turn,
        keys.map((key) => text(key)),
      );
      await storage.turnLog.append(
        turn,
        [...keys, 'last'].map((key) => text(key)),
      );
      expect(await deltas(storage, turn)).toEqual([...keys, 'last']);
      expect((await seqs(storage, turn)).at(-1)).toBe(1236);
    });

    test('keeps every character, whatever it is', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const strange = ['a\u0000b', '\ud83d', '\ude00', '"\\\n', '👩‍👩‍👧', 'é'];
      await storage.turnLog.append(
        turn,
        strange.map((delta, index) => text(`${index}`, delta)),
      );
      expect(await deltas(storage, turn)).toEqual(strange);
    });

    test('an append to a turn that does not exist, or not in this conversation, is refused', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant, conversation } = await begunTurn(storage);
      for (const wrong of [newTurn(), { ...turn, tenant, conversation }]) {
        await expect(storage.turnLog.append(wrong, [text('a')])).rejects.toThrow('The turn has ended');
      }
    });

    test('an append that fails leaves nothing behind and does not get in the way of the next', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const unknown = { ...turn, turnId: 'no-such-turn' };
      await expect(storage.turnLog.append(unknown, [text('a')])).rejects.toThrow('The turn has ended');
      await storage.turnLog.append(turn, [text('b')]);
      expect(await seqs(storage, turn)).toEqual([1, 2]);
    });
  });
});
