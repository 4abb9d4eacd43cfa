import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, deltas, firstAttempt, keptStep, step, text } from './fixtures.ts';
import { open, question } from './question.ts';

const turnEnded = { name: 'WriteRefused', reason: 'turn-ended' };
const toolCallId = 'c1';
const message = { id: 'late', role: 'tool' as const, content: [] };
const of = { step: 7, attempt: 1 };

/** Everything that is written to a turn, except its end. */
const writes: Record<string, (storage: Storage, turn: TurnRef) => Promise<unknown>> = {
  'an event': ({ turnLog }, turn) => turnLog.append(turn, [step(9)]),
  'a delta': ({ turnLog }, turn) => turnLog.append(turn, [text('late')]),
  'what is said in a step': ({ steps }, turn) => steps.append(turn, of, [text('late')]),
  'a step': ({ steps }, turn) =>
    steps.keep(turn, of, {
      finish: 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
      messages: [message],
      events: [step(7)],
      calls: [],
    }),
  'the beginning of a step': ({ steps }, turn) => steps.begin(turn, of),
  'the beginning of a step, again': ({ steps }, turn) => steps.begin(turn, { ...of, attempt: 2 }),
  'the start of a call': ({ toolCalls }, turn) => toolCalls.start(turn, 'not started', firstAttempt),
  'that a call had no effect': ({ toolCalls }, turn) => toolCalls.release(turn, toolCallId, firstAttempt),
  'a round of a call': ({ toolCalls }, turn) =>
    toolCalls.keepRound(turn, toolCallId, { round: 1, sealed: 'late' }, 'paused', firstAttempt),
  'the result of a call': ({ toolCalls }, turn) =>
    toolCalls.finish(turn, toolCallId, { message, event: step(9) }, firstAttempt),
  'the result of a call, by no attempt': ({ toolCalls }, turn) =>
    toolCalls.finish(turn, toolCallId, { message, event: step(9) }),
  'a later attempt at a call': ({ toolCalls }, turn) =>
    toolCalls.take(turn, toolCallId, { execution: 0, attempt: 2 }),
};

onEachDatabase((subject) => {
  async function endedTurn(): Promise<TurnRef> {
    const { storage } = subject();
    const turn = await begunTurn(storage);
    const calls = [toolCallId, 'not started'].map((id) => ({ toolCallId: id, toolName: 'list', input: {} }));
    await keptStep(storage, turn, { calls });
    await storage.toolCalls.start(turn, toolCallId, firstAttempt);
    await storage.turnLog.append(turn, [step(1), text('a'), text('b')]);
    await storage.turns.end(turn, 'cancelled');
    return turn;
  }

  async function everythingOf(turn: TurnRef) {
    const { storage } = subject();
    const { turnLog, turns, messages, toolCalls, elicitations } = storage;
    return {
      log: await turnLog.read(turn, 0),
      row: await turns.get(turn),
      messages: await messages.list(turn),
      calls: await toolCalls.unfinished(turn),
      rounds: await toolCalls.rounds(turn, toolCallId),
      questions: await elicitations.ofConversation(turn),
    };
  }

  describe('a turn that has ended', () => {
    test.each(Object.entries(writes))('takes no more: %s', async (_, write) => {
      const { storage } = subject();
      const turn = await endedTurn();
      const before = await everythingOf(turn);
      await expect(write(storage, turn)).rejects.toMatchObject(turnEnded);
      expect(await everythingOf(turn)).toEqual(before);
      expect(before.log.at(-1)?.event.type).toBe('turn-ended');
    });

    test('takes no effect of a tool that is new, and knows those that have begun', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const claim = (activityId: string) =>
        storage.toolEffects.claim({ workflowId: `turn/${turn.turnId}`, activityId }, { turn, name: 'send' });
      expect(await claim('1')).toEqual({ kind: 'claimed' });
      await storage.turns.end(turn, 'cancelled');
      expect(await claim('1')).toEqual({ kind: 'started' });
      await expect(claim('2')).rejects.toMatchObject(turnEnded);
    });

    test('opens no question', async () => {
      const { storage } = subject();
      const turn = await endedTurn();
      const before = await everythingOf(turn);
      expect(await open(storage, question(turn))).toEqual({ kind: 'over' });
      expect(await everythingOf(turn)).toEqual(before);
    });

    test('hears nothing of how far a call has come', async () => {
      const { storage } = subject();
      const turn = await endedTurn();
      const before = await everythingOf(turn);
      const noted = storage.toolCalls.noteProgress(turn, toolCallId, 1, step(9), firstAttempt);
      expect(await noted).toBe(false);
      expect(await everythingOf(turn)).toEqual(before);
    });

    test('is none the worse for an event that is repeated', async () => {
      const { storage } = subject();
      const turn = await endedTurn();
      await storage.turnLog.append(turn, [step(1)]);
      const before = (await storage.turnLog.read(turn, 0)).length;
      await storage.turnLog.merge(turn);
      expect(await deltas(storage, turn)).toEqual(['ab']);
      // Merged entries have no key any more, so a repetition cannot be detected.
      await expect(storage.turnLog.append(turn, [text('a')])).rejects.toMatchObject(turnEnded);
      expect(await deltas(storage, turn)).toEqual(['ab']);
      const next = await begunTurn(storage, { tenant: turn.tenant, conversation: turn.conversation });
      expect((await storage.turnLog.read(next, before)).map(({ seq }) => seq)).toEqual([before + 1]);
    });

    test('at the same moment as something is written has it before its end, or not at all', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 10; round++) {
        const turn = await begunTurn(storage);
        const appended = Array.from({ length: 5 }, (_, index) =>
          storage.turnLog.append(turn, [step(index)]).catch((error: unknown) => error),
        );
        await other.turns.end(turn, 'completed');
        for (const outcome of await Promise.all(appended))
          expect([undefined, expect.objectContaining(turnEnded)]).toContainEqual(outcome);
        expect((await storage.turnLog.read(turn, 0)).at(-1)?.event.type).toBe('turn-ended');
      }
    });
  });
});
