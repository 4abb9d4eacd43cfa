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
