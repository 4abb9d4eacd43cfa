import { describe, expect, test } from 'vitest';
import type { Subject } from '../contract.ts';
import { begunTurn, seqs } from './fixtures.ts';

export function toolCallsContract(subject: () => Subject): void {
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
      await storage.toolCalls.request(turn, calls);
      const attempts = Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? storage : other).toolCalls.start(turn, 'c1'),
      );
      expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(1);
      expect(await storage.toolCalls.get(turn, 'c1')).toEqual({ ...calls[0], state: 'started' });
      expect(await storage.toolCalls.get(turn, 'c2')).toEqual({ ...calls[1], state: 'requested' });
      expect(await storage.toolCalls.start(turn, 'unknown')).toBe(false);
      expect(await storage.toolCalls.get(turn, 'unknown')).toBeNull();
    });

    test('requesting again does not reset a call that has started', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
      await storage.toolCalls.start(turn, 'c1');
      await storage.toolCalls.request(turn, calls);
      expect((await storage.toolCalls.get(turn, 'c1'))?.state).toBe('started');
    });

    test('a call that was certainly not executed may be started again', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
      await storage.toolCalls.start(turn, 'c1');
      await storage.toolCalls.release(turn, 'c1');
      expect(await storage.toolCalls.start(turn, 'c1')).toBe(true);
    });

    test('progress enters the log while it grows, whoever notes it, and not after the result', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
      const note = (by: typeof storage, toolCallId: string, progress: number) =>
        by.toolCalls.noteProgress(turn, toolCallId, progress, {
          key: `progress/${toolCallId}/${progress}`,
          event: { type: 'tool-progress', toolCallId, toolName: 'tracker__list', progress },
        });
      await storage.toolCalls.start(turn, 'c1');
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
      await toolCalls.request(turn, calls);
      const keep = (
        by: typeof storage,
        round: number,
        sealed: string,
        state: 'paused' | 'started' = 'paused',
      ) => by.toolCalls.keepRound(turn, 'c1', { round, sealed }, state);
      const state = async () => (await toolCalls.get(turn, 'c1'))?.state;

      // Nothing was sent, so nothing can have been asked.
      expect(await keep(storage, 1, 'early')).toBe(false);
      await toolCalls.start(turn, 'c1');
      expect(await keep(storage, 1, 'one')).toBe(true);
      expect(await state()).toBe('paused');
      expect(await keep(other, 2, 'not started')).toBe(false);
      expect(await toolCalls.start(turn, 'c1')).toBe(true);
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
      await toolCalls.request(turn, calls);
      for (const toolCallId of ['c1', 'c2']) await toolCalls.start(turn, toolCallId);
      await toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 'one' }, 'paused');
      await toolCalls.start(turn, 'c1');
      for (const toolCallId of ['c1', 'c2']) await toolCalls.release(turn, toolCallId);
      expect((await toolCalls.get(turn, 'c1'))?.state).toBe('paused');
      expect((await toolCalls.get(turn, 'c2'))?.state).toBe('requested');
      // Neither is what has not been started.
      for (const toolCallId of ['c1', 'c2']) await toolCalls.release(turn, toolCallId);
      expect((await toolCalls.get(turn, 'c1'))?.state).toBe('paused');
    });

    test('of many that keep a round, or go on from it, one does', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
      const either = (index: number) => (index % 2 === 0 ? storage : other).toolCalls;
      const eight = <T>(work: (index: number) => Promise<T>) =>
        Promise.all(Array.from({ length: 8 }, (_, index) => work(index)));

      await storage.toolCalls.start(turn, 'c1');
      const kept = await eight((index) =>
        either(index).keepRound(turn, 'c1', { round: 1, sealed: `by ${index}` }, 'paused'),
      );
      expect(kept.filter(Boolean)).toHaveLength(1);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([
        { round: 1, sealed: `by ${kept.indexOf(true)}` },
      ]);
      expect((await eight((index) => either(index).start(turn, 'c1'))).filter(Boolean)).toHaveLength(1);

      // Held: the call stays as it is, so the number of the round decides.
      const held = await eight((index) =>
        either(index).keepRound(turn, 'c1', { round: 2, sealed: `by ${index}` }, 'started'),
      );
      expect(held.filter(Boolean)).toHaveLength(1);
      expect(await storage.toolCalls.rounds(turn, 'c1')).toHaveLength(2);
    });

    test('whoever ends a call takes its rounds along, and nobody can go on with it', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
      for (const toolCallId of ['c1', 'c2']) {
        await storage.toolCalls.start(turn, toolCallId);
        await storage.toolCalls.keepRound(turn, toolCallId, { round: 1, sealed: 'one' }, 'paused');
      }
      await other.toolCalls.finish(turn, 'c1', result('c1'));
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([]);
      expect(await storage.toolCalls.rounds(turn, 'c2')).toHaveLength(1);
      expect(await storage.toolCalls.start(turn, 'c1')).toBe(false);
      expect(await storage.toolCalls.keepRound(turn, 'c1', { round: 1, sealed: 'late' }, 'paused')).toBe(
        false,
      );
      expect(await storage.toolCalls.rounds(turn, 'c1')).toEqual([]);
    });

    test('the first result is the one that counts, in the transcript and in the log', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
      await storage.toolCalls.start(turn, 'c1');
      const finished = await Promise.all(
        [storage, other].map(({ toolCalls }) => toolCalls.finish(turn, 'c1', result('c1'))),
      );
      expect(finished.toSorted()).toEqual([false, true]);
      await storage.toolCalls.release(turn, 'c1');
      expect((await storage.toolCalls.get(turn, 'c1'))?.state).toBe('finished');
      expect((await storage.messages.list(turn)).map(({ id }) => id)).toEqual([
        turn.clientMessageId,
        'result/c1',
      ]);
      expect(await seqs(storage, turn)).toEqual([1, 2]);
      expect(await storage.toolCalls.unfinished(turn)).toEqual([{ ...calls[1], state: 'requested' }]);
    });

    test('a notice stands right before the result, and only with the one that counts', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      await storage.toolCalls.request(turn, calls);
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
}
