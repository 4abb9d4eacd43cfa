import { describe, expect, test } from 'vitest';
import type { CallAttempt } from '../../../src/storage/tables/call-attempt.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, firstAttempt, keptStep, seqs, step } from './fixtures.ts';

onEachDatabase((subject) => {
  const calls = ['c1', 'c2'].map((toolCallId) => ({
    toolCallId,
    toolName: 'tracker__list',
    input: { state: 'open' },
  }));
  const result = (toolCallId: string) => ({
    message: { id: `result/${toolCallId}`, role: 'tool' as const, content: [] },
    event: {
      key: `result/${toolCallId}`,
      event: {
        type: 'tool-output-available' as const,
        toolName: 'tracker__list',
        toolCallId,
        output: { content: [] },
      },
    },
  });

  describe('tool calls', () => {
    test('of many that want to start a call, one does', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const attempts = Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? storage : other).toolCalls.start(turn, 'c1', firstAttempt),
      );
      expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(1);
      expect(await storage.toolCalls.get(turn, 'c1')).toMatchObject({ ...calls[0], state: 'started' });
      expect(await storage.toolCalls.get(turn, 'c2')).toMatchObject({ ...calls[1], state: 'requested' });
      expect(await storage.toolCalls.start(turn, 'unknown', firstAttempt)).toBe(false);
      expect(await storage.toolCalls.get(turn, 'unknown')).toBeNull();
    });

    test('a call that was certainly not executed may be started again', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      await storage.toolCalls.start(turn, 'c1', firstAttempt);
      await storage.toolCalls.release(turn, 'c1', firstAttempt);
      expect(await storage.toolCalls.start(turn, 'c1', firstAttempt)).toBe(true);
    });

    test('failures of a call are counted over its attempts, until its server asks something', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const by = (attempt: number) => ({ execution: 0, attempt });
      expect(await storage.toolCalls.countFailure(turn, 'c1', by(1))).toBe(1);
      expect(await other.toolCalls.countFailure(turn, 'c1', by(2))).toBe(2);
      await storage.toolCalls.start(turn, 'c1', by(3));
      await storage.toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 's' }, 'paused', by(3));
      expect(await storage.toolCalls.countFailure(turn, 'c1', by(3))).toBe(1);
      expect(await storage.toolCalls.countFailure(turn, 'c1', by(2))).toBe(0);
      await storage.toolCalls.finish(turn, 'c1', result('c1'), by(3));
      expect(await storage.toolCalls.countFailure(turn, 'c1', by(3))).toBe(Infinity);
    });

    test('code is in use until the calls that are to run with it are finished, by their result or with their turn', async () => {
      const { storage, other } = subject();
      const [turn, ended] = [await begunTurn(storage), await begunTurn(storage)];
      const used = (code: string) => calls.map((call) => ({ ...call, code }));
      await keptStep(storage, turn, { calls: used('first') });
      await keptStep(storage, ended, { calls: used('second') });
      const inUse = async () => Object.fromEntries(await other.toolCalls.codeInUse());
      expect(await inUse()).toEqual({ first: 2, second: 2 });
      await storage.toolCalls.finish(turn, 'c1', result('c1'), firstAttempt);
      expect(await inUse()).toEqual({ first: 1, second: 2 });
      await storage.toolCalls.finish(turn, 'c2', result('c2'), firstAttempt);
      await storage.turns.end(ended, 'cancelled', { resultOf: ({ toolCallId }) => result(toolCallId) });
      expect(await inUse()).toEqual({});
    });

    test('progress enters the log while it grows, whoever notes it, and not after the result', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const note = (by: typeof storage, toolCallId: string, progress: number) =>
        by.toolCalls.noteProgress(
          turn,
          toolCallId,
          progress,
          {
            key: `progress/${toolCallId}/${progress}`,
            event: { type: 'tool-progress', toolCallId, toolName: 'tracker__list', progress },
          },
          firstAttempt,
        );
      await storage.toolCalls.start(turn, 'c1', firstAttempt);
      expect(await note(storage, 'c1', 0.5)).toBe(true);
      expect(await note(other, 'c1', 0.5)).toBe(false);
      expect(await note(other, 'c1', 0.25)).toBe(false);
      expect(await note(other, 'c1', 0.75)).toBe(true);
      expect(await note(storage, 'c2', 0.25)).toBe(true);
      await storage.toolCalls.finish(turn, 'c1', result('c1'));
      expect(await note(storage, 'c1', 1)).toBe(false);
      expect(await note(storage, 'unknown', 1)).toBe(false);
      const log = await storage.turnLog.read(turn, 0);
      expect(
        log.flatMap(({ event }) =>
          event.type === 'tool-progress' ? [[event.toolCallId, event.progress]] : [],
        ),
      ).toEqual([
        ['c1', 0.5],
        ['c1', 0.75],
        ['c2', 0.25],
      ]);
    });

    test('a call that pauses keeps its rounds in order, and goes on from there', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      const { toolCalls } = storage;
      await keptStep(storage, turn, { calls });
      const keep = (
        by: typeof storage,
        round: number,
        sealed: string,
        state: 'paused' | 'started' = 'paused',
      ) => by.toolCalls.keepRound(turn, 'c1', { round, sealed }, state, firstAttempt);
      const state = async () => (await toolCalls.get(turn, 'c1'))?.state;

      // Nothing was sent, so nothing can have been asked.
      expect(await keep(storage, 1, 'early')).toBe(false);
      await toolCalls.start(turn, 'c1', firstAttempt);
      expect(await keep(storage, 1, 'one')).toBe(true);
      expect(await state()).toBe('paused');
      expect(await keep(other, 2, 'not started')).toBe(false);
      expect(await toolCalls.start(turn, 'c1', firstAttempt)).toBe(true);
      expect(await keep(other, 2, 'two', 'started')).toBe(true);
      expect(await state()).toBe('started');
      expect(await keep(storage, 3, 'three')).toBe(true);
      const rounds = ['one', 'two', 'three'].map((sealed, index) => ({ round: index + 1, sealed }));
      expect(await toolCalls.rounds(turn, 'c1')).toEqual(rounds);
      expect(await other.toolCalls.rounds(turn, 'c1')).toEqual(rounds);
      expect(await toolCalls.rounds(turn, 'c2')).toEqual([]);
      expect(await toolCalls.unfinished(turn)).toMatchObject([{ state: 'paused' }, { state: 'requested' }]);
    });

    test('a later round that certainly did not arrive leaves the call paused, a first one requested', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { toolCalls } = storage;
      await keptStep(storage, turn, { calls });
      for (const toolCallId of ['c1', 'c2']) await toolCalls.start(turn, toolCallId, firstAttempt);
      await toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 'one' }, 'paused', firstAttempt);
      await toolCalls.start(turn, 'c1', firstAttempt);
      for (const toolCallId of ['c1', 'c2']) await toolCalls.release(turn, toolCallId, firstAttempt);
      expect((await toolCalls.get(turn, 'c1'))?.state).toBe('paused');
      expect((await toolCalls.get(turn, 'c2'))?.state).toBe('requested');
      // Neither is what has not been started.
      for (const toolCallId of ['c1', 'c2']) await toolCalls.release(turn, toolCallId, firstAttempt);
      expect((await toolCalls.get(turn, 'c1'))?.state).toBe('paused');
    });

    test('of many that keep a round, or go on from it, one does', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const either = (index: number) => (index % 2 === 0 ? storage : other).toolCalls;
      const eight = <T>(work: (index: number) => Promise<T>) =>
        Promise.all(Array.from({ length: 8 }, (_, index) => work(index)));

      await storage.toolCalls.start(turn, 'c1', firstAttempt);
      const kept = await eight((index) =>
        either(index).keepRound(turn, 'c1', { round: 1, sealed: `by ${index}` }, 'paused', firstAttempt),
      );
      expect(kept.filter(Boolean)).toHaveLength(1);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([
        { round: 1, sealed: `by ${kept.indexOf(true)}` },
      ]);
      expect(
        (await eight((index) => either(index).start(turn, 'c1', firstAttempt))).filter(Boolean),
      ).toHaveLength(1);

      // Held: the call stays as it is, so the number of the round decides.
      const held = await eight((index) =>
        either(index).keepRound(turn, 'c1', { round: 2, sealed: `by ${index}` }, 'started', firstAttempt),
      );
      expect(held.filter(Boolean)).toHaveLength(1);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toHaveLength(2);
    });

    test('whoever ends a call takes its rounds along, and nobody can go on with it', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      for (const toolCallId of ['c1', 'c2']) {
        await storage.toolCalls.start(turn, toolCallId, firstAttempt);
        await storage.toolCalls.keepRound(
          turn,
          toolCallId,
          { round: 1, sealed: 'one' },
          'paused',
          firstAttempt,
        );
      }
      await other.toolCalls.finish(turn, 'c1', result('c1'));
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([]);
      expect(await storage.toolCalls.rounds(turn, 'c2')).toHaveLength(1);
      expect(await storage.toolCalls.start(turn, 'c1', firstAttempt)).toBe(false);
      expect(
        await storage.toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 'late' }, 'paused', firstAttempt),
      ).toBe(false);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([]);
    });

    test('the first result is the one that counts, in the transcript and in the log', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      await storage.toolCalls.start(turn, 'c1', firstAttempt);
      const finished = await Promise.all(
        [storage, other].map(({ toolCalls }) => toolCalls.finish(turn, 'c1', result('c1'))),
      );
      expect(finished.toSorted()).toEqual([false, true]);
      await storage.toolCalls.release(turn, 'c1', firstAttempt);
      expect((await storage.toolCalls.get(turn, 'c1'))?.state).toBe('finished');
      expect((await storage.messages.list(turn)).map(({ id }) => id)).toEqual([
        turn.clientMessageId,
        'result/c1',
      ]);
      expect(await seqs(storage, turn)).toEqual([1, 2]);
      expect(await storage.toolCalls.unfinished(turn)).toMatchObject([{ ...calls[1], state: 'requested' }]);
    });

    const by = (execution: number, attempt: number): CallAttempt => ({ execution, attempt });
    test.each([
      ['a later attempt', by(0, 1), by(0, 2)],
      ['an attempt of a later execution', by(0, 5), by(1, 2)],
    ])('of which %s has begun take nothing from an older one', async (_, older, newer) => {
      const { storage, other } = subject();
      const { toolCalls } = storage;
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const refused = (write: Promise<unknown>) =>
        expect(write).rejects.toMatchObject({ name: 'WriteRefused', reason: 'newer-attempt' });
      expect(await other.toolCalls.take(turn, 'c1', newer)).toMatchObject({
        ...calls[0],
        state: 'requested',
      });
      await refused(toolCalls.start(turn, 'c1', older));
      await refused(toolCalls.take(turn, 'c1', older));
      await refused(toolCalls.finish(turn, 'c1', result('c1'), older));
      expect(await other.toolCalls.start(turn, 'c1', newer)).toBe(true);
      await refused(toolCalls.release(turn, 'c1', older));
      await refused(toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 'late' }, 'paused', older));
      expect(await toolCalls.noteProgress(turn, 'c1', 0.5, step(1), older)).toBe(false);
      expect(await toolCalls.get(turn, 'c1')).toMatchObject({ ...calls[0], state: 'started' });
      expect(await toolCalls.rounds(turn, 'c1')).toEqual([]);
      expect(await seqs(storage, turn)).toEqual([1]);

      expect(await other.toolCalls.finish(turn, 'c1', result('c1'), newer)).toBe(true);
      expect(await toolCalls.finish(turn, 'c1', result('c1'), older)).toBe(false);
      expect(await toolCalls.take(turn, 'c1', older)).toMatchObject({ ...calls[0], state: 'finished' });
      expect(await toolCalls.take(turn, 'c1', newer)).toMatchObject({ ...calls[0], state: 'finished' });
    });

    test('begin with a first attempt that leaves no number, until it writes', async () => {
      const { storage } = subject();
      const { toolCalls } = storage;
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      await toolCalls.take(turn, 'c1', by(1, 1));
      expect(await toolCalls.start(turn, 'c1', by(0, 1))).toBe(true);
      expect(await toolCalls.start(turn, 'c2', by(1, 1))).toBe(true);
      await expect(toolCalls.release(turn, 'c2', by(0, 9))).rejects.toMatchObject({
        reason: 'newer-attempt',
      });
      expect(await toolCalls.take(turn, 'unknown', by(0, 2))).toBeNull();
    });

    test('of many attempts that begin and write at once, the call is the newest one’s', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 5; round++) {
        const turn = await begunTurn(storage);
        await keptStep(storage, turn, { calls });
        const either = (index: number) => (index % 2 === 0 ? storage : other).toolCalls;
        const outcomes = await Promise.allSettled(
          [3, 1, 4, 2].map(async (attempt, index) => {
            await either(index).take(turn, 'c1', by(0, attempt));
            return either(index + 1).start(turn, 'c1', by(0, attempt));
          }),
        );
        expect(outcomes.filter((one) => one.status === 'fulfilled' && one.value)).toHaveLength(1);
        await expect(storage.toolCalls.release(turn, 'c1', by(0, 3))).rejects.toMatchObject({
          reason: 'newer-attempt',
        });
        await storage.toolCalls.release(turn, 'c1', by(0, 4));
      }
    });

    test('that an attempt holds are not taken by a later one until it lets go or its time is over', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const hold = (toolCallId: string, ms: number) => storage.toolCalls.hold(turn, toolCallId, ms, by(0, 1));
      const take = (toolCallId: string) => other.toolCalls.take(turn, toolCallId, by(0, 2));
      await storage.toolCalls.start(turn, 'c1', by(0, 1));
      await hold('c1', 60_000);
      expect(await take('c1')).toMatchObject({ ...calls[0], state: 'started', isHeld: true });
      expect(await storage.toolCalls.finish(turn, 'c1', result('c1'), by(0, 1))).toBe(true);
      expect(await take('c1')).toMatchObject({ ...calls[0], state: 'finished' });

      await storage.toolCalls.start(turn, 'c2', by(0, 1));
      await hold('c2', 60_000);
      expect(await storage.toolCalls.take(turn, 'c2', by(0, 1))).toMatchObject({
        ...calls[1],
        state: 'started',
      });
      await hold('c2', 0);
      expect(await take('c2')).toMatchObject({ ...calls[1], state: 'started' });
      // Too late: the call is another attempt's.
      await hold('c2', 60_000);
      expect(await other.toolCalls.take(turn, 'c2', by(0, 3))).toMatchObject({
        ...calls[1],
        state: 'started',
      });
      await storage.toolCalls.hold(turn, 'c2', 50, by(0, 3));
      await expect
        .poll(() => other.toolCalls.take(turn, 'c2', by(0, 4)))
        .toMatchObject({ ...calls[1], state: 'started' });
    });

    test('a notice stands right before the result, and only with the one that counts', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { calls });
      const notice = {
        key: 'notice/c1',
        event: {
          type: 'tool-auth-required' as const,
          toolCallId: 'c1',
          toolName: 'tracker__list',
          server: 'tracker',
          serverTitle: 'Tracker',
          message: 'Tracker needs your account.',
        },
      };
      await storage.toolCalls.finish(turn, 'c1', { ...result('c1'), notice });
      await storage.toolCalls.finish(turn, 'c1', { ...result('c1'), notice: { ...notice, key: 'again' } });
      const entries = await storage.turnLog.read(turn, 0);
      expect(entries.map(({ event }) => event.type)).toEqual([
        'turn-started',
        'tool-auth-required',
        'tool-output-available',
      ]);
    });
  });
});
