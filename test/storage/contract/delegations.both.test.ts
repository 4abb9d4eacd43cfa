import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, keptStep, newTurn, step } from './fixtures.ts';

onEachDatabase((subject) => {
  const message = (id: string) => ({ id, role: 'assistant' as const, content: [{ type: 'text', text: id }] });
  const result = (toolCallId: string) => ({
    message: { id: `result/${toolCallId}`, role: 'tool' as const, content: [] },
    event: {
      key: `result/${toolCallId}`,
      event: { type: 'tool-output-error' as const, toolName: 'tool', toolCallId, errorText: 'no' },
    },
  });

  describe('what a delegated agent does', () => {
    test('stands in a transcript of its own, in the log of its turn, and in the usage of its turn', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const [first, second] = ['a', 'b'].map((toolCallId) => ({
        ...turn,
        delegation: { toolCallId, path: ['researcher'] },
      }));
      if (!first || !second) throw new Error('two were made');
      // All use the same keys, and none takes them away from another.
      for (const [index, lane] of [turn, first, second].entries()) {
        await keptStep(storage, lane, { messages: [message(`said ${index}`)], events: [step(0)] });
        await keptStep(storage, lane, { messages: [message(`said ${index}`)], events: [step(0)] });
        await keptStep(storage, lane, { usage: { inputTokens: 10, outputTokens: 1 } });
      }
      const idsOf = async (lane: typeof turn) => (await storage.messages.list(lane)).map(({ id }) => id);
      expect(await idsOf(turn)).toEqual([turn.clientMessageId, 'said 0']);
      expect(await idsOf(first)).toEqual(['said 1']);
      expect(await idsOf(second)).toEqual(['said 2']);
      const { tenant, conversation } = turn;
      expect(await storage.messages.list({ tenant, conversation })).toEqual(
        await storage.messages.list(turn),
      );

      const entries = await storage.turnLog.read(turn, 0);
      expect(entries.map(({ event }) => event).slice(1)).toEqual([
        { type: 'start-step', step: 0 },
        { type: 'start-step', step: 0, path: ['researcher'], parentToolCallId: 'a' },
        { type: 'start-step', step: 0, path: ['researcher'], parentToolCallId: 'b' },
      ]);
      expect((await storage.turns.get(turn))?.usage).toEqual({ inputTokens: 30, outputTokens: 3 });
    });

    test('goes to the agent that called, whoever ends the call', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const delegated = { ...turn, delegation: { toolCallId: 'c0', path: ['editor', 'researcher'] } };
      const call = (toolCallId: string) => ({ toolCallId, toolName: 'tool', input: {} });
      await keptStep(storage, turn, { calls: [call('c0')] });
      await keptStep(storage, delegated, { calls: [call('c1')] });
      const open = await storage.toolCalls.unfinished(turn);
      expect(open.map(({ toolCallId, delegation }) => [toolCallId, delegation])).toEqual([
        ['c0', undefined],
        ['c1', delegated.delegation],
      ]);
      for (const { toolCallId } of open) await storage.toolCalls.finish(turn, toolCallId, result(toolCallId));
      expect((await storage.messages.list(turn)).at(-1)).toMatchObject({ id: 'result/c0' });
      expect(await storage.messages.list(delegated)).toMatchObject([{ id: 'result/c1' }]);
      const [, , last] = await storage.turnLog.read(turn, 0);
      expect(last?.event).toMatchObject({ toolCallId: 'c1', path: ['editor', 'researcher'] });
    });

    test('is found in no other turn', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const delegation = { toolCallId: 'a', path: ['researcher'] };
      await keptStep(storage, { ...turn, delegation }, { messages: [message('said')], events: [] });
      await storage.turns.end(turn, 'completed');
      const { tenant, conversation } = turn;
      const next = await begunTurn(storage, newTurn({ tenant, conversation }));
      expect(await storage.messages.list({ ...next, delegation })).toEqual([]);
    });
  });
});
