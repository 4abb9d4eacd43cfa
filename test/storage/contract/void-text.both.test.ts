import { describe, expect, test } from 'vitest';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import { keyOfReset, keyOfOutput } from '../../../src/turn/event.ts';
import { emptyTurn, foldTurn } from '../../../src/turn/fold-turn.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, deltas, followToEnd, text, upTo } from './fixtures.ts';

/** What one attempt of a step says, word by word. */
function speech(step: number, attempt: number, words: string[]): NewEvent[] {
  const id = `${step}.${attempt}`;
  const events: NewEvent['event'][] = [
    { type: 'start-step', step },
    { type: 'text-start', id },
    ...words.map((delta) => ({ type: 'text-delta', id, delta }) as const),
  ];
  return events.map((event, index) => ({ key: keyOfOutput(step, attempt, index), event }));
}

const reset = (step: number, attempt: number): NewEvent => ({
  key: keyOfReset(step, attempt),
  event: { type: 'reset-step', step },
});

onEachDatabase((subject) => {
  describe('what a repeated model call takes back', () => {
    test('is gone with the event that says so, which stays, and no number is given again', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, speech(0, 1, ['Once ', 'up']));
      await storage.turnLog.append(turn, [reset(0, 2), ...speech(0, 2, ['Once upon ', 'a time'])]);
      const entries = await storage.turnLog.read(turn, 0);
      expect(entries.map(({ event }) => event.type)).toEqual([
        'turn-started',
        'reset-step',
        'start-step',
        'text-start',
        'text-delta',
        'text-delta',
      ]);
      expect(entries.map(({ seq }) => seq)).toEqual([1, 6, 7, 8, 9, 10]);
      expect(await storage.turnLog.latest(turn)).toBe(10);
    });

    test('goes however often it is repeated, and each repetition is told', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, speech(0, 1, ['one']));
      await storage.turnLog.append(turn, [reset(0, 2), ...speech(0, 2, ['two'])]);
      await storage.turnLog.append(turn, [reset(0, 3), ...speech(0, 3, ['three'])]);
      expect(await deltas(storage, turn)).toEqual(['three']);
      const told = (await storage.turnLog.read(turn, 0)).map(({ event }) => event.type);
      expect(told.filter((type) => type === 'reset-step')).toHaveLength(2);
    });

    test('is all that goes: other steps, other agents and other turns keep what they said', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant, conversation } = turn;
      await storage.turnLog.append(turn, speech(1, 1, ['turn before']));
      await storage.turns.end(turn, 'completed');
      const next = await begunTurn(storage, { tenant, conversation });
      const [asked, alike] = ['a_b', 'axb'].map((toolCallId) => ({
        ...next,
        delegation: { toolCallId, path: ['researcher'] },
      }));
      if (!asked || !alike) throw new Error('two were made');
      await storage.turnLog.append(next, speech(0, 1, ['step before']));
      await storage.turnLog.append(next, speech(1, 1, ['own']));
      await storage.turnLog.append(next, speech(10, 1, ['ten']));
      await storage.turnLog.append(next, [text('of no step')]);
      await storage.turnLog.append(alike, speech(1, 1, ['alike']));
      await storage.turnLog.append(asked, speech(1, 1, ['void']));
      await storage.turnLog.append(asked, [reset(1, 2)]);
      const kept = ['step before', 'own', 'ten', 'of no step', 'alike'];
      expect(await deltas(storage, next)).toEqual(['turn before', ...kept]);
      await storage.turnLog.append(next, [reset(1, 2)]);
      expect(await deltas(storage, next)).toEqual([
        'turn before',
        ...kept.filter((words) => words !== 'own'),
      ]);
    });

    test('leaves nothing to be left out: whoever reads it later finds all that counts', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const delegate = { ...turn, delegation: { toolCallId: 'c', path: ['researcher'] } };
      const finish = (step: number): NewEvent => ({
        key: `step/${step}/finish`,
        event: { type: 'finish-step', step },
      });
      await storage.turnLog.append(turn, [...speech(0, 1, ['own']), finish(0)]);
      await storage.turnLog.append(delegate, [...speech(0, 1, ['delegated']), finish(0)]);
      await storage.turnLog.append(delegate, speech(1, 1, ['void']));
      await storage.turnLog.append(delegate, [reset(1, 2), ...speech(1, 2, ['found']), finish(1)]);
      await storage.turnLog.append(turn, speech(1, 1, ['void']));
      await storage.turnLog.append(turn, [reset(1, 2), ...speech(1, 2, ['void too'])]);
      await storage.turnLog.append(turn, [reset(1, 3), ...speech(1, 3, ['done']), finish(1)]);
      const entries = await storage.turnLog.read(turn, 0);
      expect(await deltas(storage, turn)).toEqual(['own', 'delegated', 'found', 'done']);
      const texts = foldTurn(emptyTurn, entries).items.flatMap((item) =>
        item.type === 'text' ? [item.text] : [],
      );
      expect(texts).toEqual(await deltas(storage, turn));
    });

    test('is taken back once: the same event again leaves what was said since', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turnLog.append(turn, speech(0, 1, ['void']));
      const again = [reset(0, 2), ...speech(0, 2, ['real'])];
      await storage.turnLog.append(turn, again);
      await storage.turnLog.append(turn, again);
      await storage.turnLog.append(turn, [reset(0, 2)]);
      expect(await deltas(storage, turn)).toEqual(['real']);
    });

    test('is told to whoever was reading it, wherever they stopped, and to nobody after', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const words = upTo(1_500).map((number) => `${number} `);
      await storage.turnLog.append(turn, speech(0, 1, words));
      const watching = followToEnd(other, turn, 700);
      await storage.turnLog.append(turn, [reset(0, 2), ...speech(0, 2, ['real'])]);
      await storage.turns.end(turn, 'completed');
      const rest = ['reset-step', 'start-step', 'text-start', 'text-delta', 'turn-ended'];
      const typesFrom = async (after: number) =>
        (await followToEnd(other, turn, after)).map(({ event }) => event.type);
      expect(await typesFrom(700)).toEqual(rest);
      expect(await typesFrom(1_503)).toEqual(rest);
      expect(await typesFrom(0)).toEqual(['turn-started', ...rest]);
      expect((await watching).slice(-rest.length).map(({ event }) => event.type)).toEqual(rest);
    });
  });
});
