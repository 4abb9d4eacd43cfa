import { describe, expect, test } from 'vitest';
import type { TurnEvent } from '../../../src/turn/event.ts';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import { turnEntries } from '../../../src/storage/log/turn-entries.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, deltas, followToEnd, story, text } from './fixtures.ts';

/** Two parts interleaved, a part alone, a repeated part id, surrogate halves, an empty delta, other events between. */
function talk(): NewEvent[] {
  const events: TurnEvent[] = [
    { type: 'start-step', step: 1 },
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'Let ' },
    { type: 'text-delta', id: '0', delta: 'He' },
    { type: 'reasoning-delta', id: '0', delta: 'me' },
    { type: 'text-delta', id: '0', delta: 'llo \ud83d' },
    { type: 'text-delta', id: '1', delta: 'x' },
    { type: 'text-delta', id: '0', delta: '\ude00 wor' },
    { type: 'text-delta', id: '0', delta: '' },
    { type: 'text-delta', id: '0', delta: 'ld' },
    { type: 'tool-input-available', toolCallId: 'call', toolName: 'list', input: {} },
    { type: 'text-delta', id: '0', delta: 'and ' },
    { type: 'text-delta', id: '0', delta: 'more' },
    { type: 'text-end', id: '0' },
    { type: 'text-delta', id: '2', delta: 'alone' },
    { type: 'finish-step', step: 1 },
  ];
  return events.map((event, index) => ({ key: `${index}`, event }));
}

onEachDatabase((subject) => {
  describe('merging the deltas of a turn', () => {
    test('a reader at any cursor sees the same story as before, once', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, talk());
      await storage.turns.end(turn, 'completed');
      const before = await storage.turnLog.read(turn, 0);
      const check = async () => {
        for (let cursor = 0; cursor <= before.length; cursor++) {
          const events = (await storage.turnLog.read(turn, cursor)).map(({ event }) => event);
          const expected = before.filter(({ seq }) => seq > cursor).map(({ event }) => event);
          expect(withoutEmpty(story(events)), `cursor ${cursor}`).toEqual(withoutEmpty(story(expected)));
          expect(events.some((event) => 'parts' in event)).toBe(false);
        }
      };
      await check();
      await storage.turnLog.merge(turn);
      await check();
      const merged = await storage.turnLog.read(turn, 0);
      expect(merged.length).toBeLessThan(before.length - 2);
      expect(await storage.turnLog.startOf(turn)).toBe(0);

      await Promise.all([storage.turnLog.merge(turn), subject().other.turnLog.merge(turn)]);
      expect(await storage.turnLog.read(turn, 0)).toEqual(merged);
      await check();
    });

    test('a reader that begins while a text is merged misses no part of it', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, [text('0', 'You '), text('1', 'said: hello')]);
      const latest = (await storage.turnLog.latest(turn)) - 1;
      await storage.turns.end(turn, 'completed');
      await storage.turnLog.merge(turn);
      const { entries, position } = await turnEntries(storage.turnLog, turn, latest);
      const later = await storage.turnLog.read(turn, position);
      const said = [...entries, ...later].map(({ event }) =>
        event.type === 'text-delta' ? event.delta : '',
      );
      expect(said.join('')).toBe('You said: hello');
    });

    test('a follower in the middle of a text neither misses nor repeats a character', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const following = Promise.all([followToEnd(storage, turn), followToEnd(other, turn)]);
      const events = talk();
      for (const [index, event] of events.entries()) {
        await storage.turnLog.append(turn, [event]);
        if (index % 3 === 2) await other.turnLog.merge(turn);
      }
      await storage.turns.end(turn, 'completed');
      const expected = story(events.map(({ event }) => event)).texts;
      for (const entries of await following) {
        expect(withoutEmpty(story(entries.map(({ event }) => event))).texts).toEqual(expected);
      }
    });

    test('leaves other turns of the conversation alone', async () => {
      const { storage } = subject();
      const first = await begunTurn(storage);
      await storage.turnLog.append(first, [text('a'), text('b')]);
      await storage.turns.end(first, 'completed');
      const { tenant, conversation } = first;
      const second = await begunTurn(storage, { tenant, conversation });
      await storage.turnLog.append(second, [text('c'), text('d')]);
      await storage.turnLog.merge(first);
      expect(await deltas(storage, first)).toEqual(['ab', 'c', 'd']);
    });
  });
});

/** A part of which only an empty delta is left says nothing. */
function withoutEmpty({ texts, others }: ReturnType<typeof story>) {
  return { texts: Object.fromEntries(Object.entries(texts).filter(([, said]) => said !== '')), others };
}
