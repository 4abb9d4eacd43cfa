import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { StepAttempt } from '../../../src/storage/log/append.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { keyOfOutput } from '../../../src/turn/event.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, seqs, step, text, upTo } from './fixtures.ts';

const newerAttempt = { name: 'WriteRefused', reason: 'newer-attempt' };
const of = (attempt: number, number = 0): StepAttempt => ({ step: number, attempt });
const usage = { inputTokens: 10, outputTokens: 1 };
const keptAnew = { kind: 'kept', ended: null };
const keptBefore = { kind: 'known', finish: 'tool-calls' };

/** What an attempt that is called `name` leaves behind. */
function left(name: string) {
  return {
    finish: 'tool-calls' as const,
    usage,
    messages: [{ id: name, role: 'assistant' as const, content: [{ type: 'text', text: name }] }],
    events: [{ key: 'step/0/finish', event: { type: 'finish-step' as const, step: 0 } }],
    calls: [{ toolCallId: `call of ${name}`, toolName: 'tracker__list', input: { state: 'open' } }],
  };
}

function say(storage: Storage, turn: TurnRef, attempt: number, index: number): Promise<void> {
  const event = { type: 'text-delta' as const, id: `${attempt}`, delta: `${attempt}.${index}` };
  return storage.steps.append(turn, of(attempt), [{ key: keyOfOutput(0, attempt, index), event }]);
}

onEachDatabase((subject) => {
  async function told(turn: TurnRef) {
    const { storage } = subject();
    const [messages, calls, entries, row] = await Promise.all([
      storage.messages.list(turn),
      storage.toolCalls.unfinished(turn),
      storage.turnLog.read(turn, 1),
      storage.turns.get(turn),
    ]);
    return {
      messages: messages.slice(1).map(({ id }) => id),
      calls: calls.map(({ toolCallId }) => toolCallId),
      events: entries.map(({ event }) => ('delta' in event ? event.delta : event.type)),
      usage: row?.usage ?? null,
    };
  }

  describe('steps', () => {
    test('leave everything behind together, once, whoever keeps them', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      expect(await storage.steps.begin(turn, of(1))).toEqual({ kind: 'begun', isRepeat: false });
      const keep = (name: string, by: Storage) => by.steps.keep(turn, of(1), left(name));
      const kept = await Promise.all([keep('one', storage), keep('two', other)]);
      expect(kept).toContainEqual(keptAnew);
      expect(kept).toContainEqual(keptBefore);
      const name = kept[0]?.kind === 'kept' ? 'one' : 'two';
      expect(await told(turn)).toEqual({
        messages: [name],
        calls: [`call of ${name}`],
        events: ['finish-step'],
        usage,
      });
      expect(await seqs(storage, turn)).toEqual(upTo(2));
      for (const attempt of [1, 2])
        expect(await other.steps.begin(turn, of(attempt))).toEqual({ kind: 'kept', finish: 'tool-calls' });
      expect(await storage.steps.begin(turn, of(1, 1))).toEqual({ kind: 'begun', isRepeat: false });
    });

    test('mark what the model is no longer given, with the step and in its conversation only', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const elsewhere = await begunTurn(storage);
      for (const one of [turn, elsewhere])
        await storage.steps.keep(one, of(1), { ...left('one'), calls: [] });
      const second = {
        ...left('two'),
        calls: [],
        events: [],
        leftOut: new Map([['one', 'results']] as const),
      };
      expect(await storage.steps.keep(turn, of(1, 1), second)).toEqual(keptAnew);
      const marked = async (one: TurnRef) =>
        (await other.messages.list(one)).flatMap(({ id, leftOut }) => (leftOut ? [[id, leftOut]] : []));
      expect(await marked(turn)).toEqual([['one', 'results']]);
      expect(await marked(elsewhere)).toEqual([]);
      // Another attempt at the step that is kept marks nothing.
      const late = { ...second, leftOut: new Map([['two', 'files']] as const) };
      expect(await storage.steps.keep(turn, of(2, 1), late)).toEqual(keptBefore);
      expect(await marked(turn)).toEqual([['one', 'results']]);
    });

    test('that cannot be kept whole leave nothing', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.steps.keep(turn, of(1), left('one'));
      const again = { ...left('two'), calls: left('one').calls };
      await expect(storage.steps.keep(turn, of(1, 1), again)).rejects.toThrow(/unique/i);
      expect(await told(turn)).toMatchObject({ messages: ['one'], events: ['finish-step'], usage });
      expect(await storage.steps.begin(turn, of(1, 1))).toEqual({ kind: 'begun', isRepeat: false });
    });

    test('of which a newer attempt has begun take nothing from an older one', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.steps.begin(turn, of(1));
      await say(storage, turn, 1, 0);
      expect(await other.steps.begin(turn, of(2))).toEqual({ kind: 'begun', isRepeat: true });
      const before = await told(turn);
      await expect(say(storage, turn, 1, 1)).rejects.toMatchObject(newerAttempt);
      await expect(storage.steps.keep(turn, of(1), left('one'))).rejects.toMatchObject(newerAttempt);
      await expect(storage.steps.begin(turn, of(1))).rejects.toMatchObject(newerAttempt);
      expect(await told(turn)).toEqual(before);

      await say(other, turn, 2, 0);
      await storage.steps.begin(turn, of(3));
      await expect(say(other, turn, 2, 1)).rejects.toMatchObject(newerAttempt);
      await expect(other.steps.begin(turn, of(2))).rejects.toMatchObject(newerAttempt);
      expect(await storage.steps.keep(turn, of(3), left('three'))).toEqual(keptAnew);
      expect(await told(turn)).toEqual({
        messages: ['three'],
        calls: ['call of three'],
        events: ['1.0', '2.0', 'finish-step'],
        usage,
      });
      expect(await seqs(storage, turn)).toEqual(upTo(4));
      // A late attempt at a kept step goes on from there, too.
      expect(await storage.steps.keep(turn, of(2), left('two'))).toEqual(keptBefore);
    });

    test('begun again say whether there are words to take back', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.steps.begin(turn, of(1));
      expect(await storage.steps.begin(turn, of(2))).toEqual({ kind: 'begun', isRepeat: false });
      await say(storage, turn, 2, 0);
      expect(await storage.steps.begin(turn, of(3))).toEqual({ kind: 'begun', isRepeat: true });
      // The database was away for days.
      expect(await storage.steps.begin(turn, of(100_000))).toEqual({ kind: 'begun', isRepeat: true });
      expect(await storage.steps.begin(turn, of(2, 1))).toEqual({ kind: 'begun', isRepeat: false });
    });

    test('whatever two attempts write at the same time, nothing of the older follows the newer', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 10; round++) {
        const turn = await begunTurn(storage);
        await storage.steps.begin(turn, of(1));
        const older = (async () => {
          for (let index = 0; index < 1_000; index++) {
            await say(storage, turn, 1, index);
            // SQLite answers without leaving the event loop, where others wait for their turn.
            await setImmediate();
          }
        })().catch((error: unknown) => error);
        const { isRepeat } = (await other.steps.begin(turn, of(2))) as { isRepeat: boolean };
        await say(other, turn, 2, 0);
        expect(await older).toMatchObject(newerAttempt);
        const { events } = await told(turn);
        expect(events.at(-1)).toBe('2.0');
        expect(isRepeat).toBe(events.length > 1);
      }
    });

    const lastStep = { ...left('last'), finish: 'stop' as const, calls: [], ending: {} };

    test('that end their turn do both at once, and are found by another attempt', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.steps.begin(turn, of(1));
      const ended = { status: 'completed', startedAt: expect.any(Number) as number, questions: [] };
      expect(await storage.steps.keep(turn, of(1), lastStep)).toEqual({ kind: 'kept', ended });
      expect(await told(turn)).toMatchObject({
        messages: ['last'],
        events: ['finish-step', 'turn-ended'],
        usage,
      });
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'completed' });
      expect(await other.steps.begin(turn, of(2))).toEqual({ kind: 'kept', finish: 'stop' });
      expect(await other.steps.keep(turn, of(2), lastStep)).toEqual({ kind: 'known', finish: 'stop' });
      expect(await seqs(storage, turn)).toEqual(upTo(3));
    });

    test('leave the end of a turn that is to be cancelled to its workflow', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.turns.cancel(turn);
      expect(await storage.steps.keep(turn, of(1), lastStep)).toEqual(keptAnew);
      expect(await told(turn)).toMatchObject({ messages: ['last'], events: ['finish-step'] });
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'running' });
    });

    test('of delegated agents are their own', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const lane = (toolCallId: string) => ({ ...turn, delegation: { toolCallId, path: ['researcher'] } });
      await storage.steps.begin(lane('a'), of(1));
      await storage.steps.append(lane('a'), of(1), [{ ...text('x'), key: keyOfOutput(0, 1, 0) }]);
      expect(await storage.steps.begin(lane('b'), of(2))).toEqual({ kind: 'begun', isRepeat: false });
      expect(await storage.steps.begin(turn, of(1))).toEqual({ kind: 'begun', isRepeat: false });
      expect(await storage.steps.begin(lane('a'), of(2))).toEqual({ kind: 'begun', isRepeat: true });
      await expect(storage.steps.append(lane('a'), of(1), [step(0)])).rejects.toMatchObject(newerAttempt);
      await storage.steps.append(turn, of(1), [step(0)]);
    });
  });
});
