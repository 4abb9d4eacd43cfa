import { describe, expect, test } from 'vitest';
import type { LogEntry } from '../../../src/turn/event.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, followToEnd, keptStep, step, story, text, upTo } from './fixtures.ts';

onEachDatabase((subject) => {
  describe('following a log', () => {
    test('gives what is there, then what comes, also from another process', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, [step(1), step(2)]);
      const controller = new AbortController();
      const batches = storage.turnLog.follow(turn, 1, controller.signal)[Symbol.asyncIterator]();
      expect((await batches.next()).value?.map(({ seq }: LogEntry) => seq)).toEqual([2, 3]);
      for (const seq of [4, 5, 6, 7]) {
        const next = batches.next();
        await (seq % 2 === 0 ? storage : other).turnLog.append(turn, [step(seq)]);
        expect((await next).value?.map((entry: LogEntry) => entry.seq)).toEqual([seq]);
      }
      controller.abort();
      expect((await batches.next()).done).toBe(true);
    });

    test('many followers each get everything once, in order, while several write', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const followers = upTo(6).map((index) => followToEnd(index % 2 === 0 ? storage : other, turn));
      const writers = [storage, other, storage].map(async ({ turnLog }, writer) => {
        for (const index of upTo(30)) await turnLog.append(turn, [text(`${writer}/${index}`)]);
      });
      await Promise.all(writers);
      await storage.turns.end(turn, 'completed');
      for (const entries of await Promise.all(followers)) {
        expect(entries.map(({ seq }) => seq)).toEqual(upTo(92));
      }
    });

    test('hears of everything that enters the log, whichever part wrote it', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const controller = new AbortController();
      const batches = storage.turnLog.follow(turn, 1, controller.signal)[Symbol.asyncIterator]();
      await keptStep(storage, turn, { calls: [{ toolCallId: 'call', toolName: 'list', input: {} }] });
      const message = (id: string) => ({ id, role: 'tool' as const, content: [] });
      const writes = [
        () => keptStep(storage, turn, { messages: [message('m1')], events: [step(1)] }),
        () => storage.toolCalls.finish(turn, 'call', { message: message('m2'), event: step(2) }),
        () => storage.turns.end(turn, 'completed'),
      ];
      for (const write of writes) {
        const next = batches.next();
        await write();
        expect((await next).value).toHaveLength(1);
      }
      controller.abort();
    });

    test('a long log comes in batches, without missing or repeating one', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const watching = followToEnd(storage, turn);
      await storage.turnLog.append(
        turn,
        upTo(1200).map((index) => text(`${index}`)),
      );
      await storage.turns.end(turn, 'completed');
      expect((await followToEnd(storage, turn)).map(({ seq }) => seq)).toEqual(upTo(1202));
      expect((await watching).map(({ seq }) => seq)).toEqual(upTo(1202));
    });

    test('large entries come in small batches, so that a slow reader holds little', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const large = (size: number) => upTo(6).map((index) => text(`${size}/${index}`, 'é'.repeat(size / 2)));
      await storage.turnLog.append(turn, [...large(200_000), ...large(20_000), ...large(10)]);
      const controller = new AbortController();
      const sizes: number[] = [];
      let seen = 0;
      for await (const batch of storage.turnLog.follow(turn, 0, controller.signal)) {
        sizes.push(batch.length);
        seen += batch.length;
        if (seen === 19) controller.abort();
      }
      // The first batch has the small entry that every log begins with.
      expect(sizes).toEqual([2, 1, 1, 1, 1, 1, 4, 8]);
    });

    test('whoever left after any entry goes on from there, also when the log was merged before he came', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const thought = (said: string): NewEvent => ({
        key: `thought/${said}`,
        event: { type: 'reasoning-delta', id: 'part', delta: said },
      });
      const interleaved = upTo(8).flatMap((index) => [text(`a${index} `), thought(`b${index} `)]);
      await storage.turnLog.append(turn, [...interleaved, text('c1 '), text('c2 '), text('c3 ')]);
      await storage.turns.end(turn, 'completed');
      const unmerged = await storage.turnLog.read(turn, 0);
      await storage.turnLog.merge(turn);
      const merged = await storage.turnLog.read(turn, 0);
      expect(merged.length).toBeLessThan(unmerged.length);
      const whole = story(unmerged.map(({ event }) => event));
      for (const entries of [unmerged, merged]) {
        for (const [index, { seq }] of entries.entries()) {
          if (index === entries.length - 1) break;
          const rest = await followToEnd(storage, turn, seq);
          const seen = [...entries.slice(0, index + 1), ...rest].map(({ event }) => event);
          expect(story(seen), `left after ${seq} of ${entries.length}`).toEqual(whole);
        }
      }
    });

    test('ends at once when aborted: before, while waiting, and by leaving the loop', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const before = storage.turnLog.follow(turn, 0, AbortSignal.abort())[Symbol.asyncIterator]();
      expect((await before.next()).done).toBe(true);

      const controller = new AbortController();
      const waiting = storage.turnLog.follow(turn, 1, controller.signal)[Symbol.asyncIterator]().next();
      controller.abort();
      expect((await waiting).done).toBe(true);

      for await (const batch of storage.turnLog.follow(turn, 0, new AbortController().signal)) {
        expect(batch).toHaveLength(1);
        break;
      }
    });

    test('ends when the storage is closed', async () => {
      const { storage, database } = subject();
      const turn = await begunTurn(storage);
      const closing = await openStorage(database);
      const follower = closing.turnLog.follow(turn, 0, new AbortController().signal)[Symbol.asyncIterator]();
      await follower.next();
      const next = follower.next();
      await closing.close();
      expect((await next).done).toBe(true);
    });
  });
});
