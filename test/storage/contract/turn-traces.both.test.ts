import { describe, expect, test } from 'vitest';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, keptStep, newTurn } from './fixtures.ts';
import { answer, formQuestion, open, question } from './question.ts';

const traceParent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const calls = (...ids: string[]) =>
  ids.map((toolCallId) => ({ toolCallId, toolName: 'tracker__list', input: {} }));

onEachDatabase((subject) => {
  describe('the trace of a turn', () => {
    test('is read with its questions, by whom they were asked, and its delegates', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage, { ...newTurn(), traceParent });
      const delegate = { ...turn, delegation: { toolCallId: 'c1', path: ['editor'] } };
      await keptStep(storage, turn, { calls: calls('c1', 'c2') });
      await keptStep(storage, delegate, { calls: calls('c1/1') });
      const form = formQuestion(turn, { waiter: { toolCallId: 'c1/1', workflowId: 'w' } });
      const account = question(turn, { waiter: { toolCallId: 'c2', workflowId: 'w' } });
      await open(storage, form);
      await open(storage, account);
      await open(storage, { ...account, waiter: { toolCallId: 'c1/1', workflowId: 'w' } });
      await answer(storage, form);

      const trace = await other.turnTraces.read(turn);
      expect(trace).toMatchObject({ traceParent, turnId: turn.turnId, endedAt: null });
      const asked = new Map(trace?.questions.map((one) => [one.id, one]));
      expect(asked.get(form.id)).toMatchObject({ agents: ['c1'], settledAt: expect.any(Number) as number });
      expect(asked.get(account.id)?.settledAt).toBeNull();
      expect(asked.get(account.id)?.agents.toSorted()).toEqual(['c1', null]);
      expect([...(trace?.delegates ?? [])]).toEqual([
        ['c1', { agent: 'editor', startedAt: expect.any(Number) as number, delegatedBy: null }],
      ]);
      expect((await other.elicitations.get(form.id))?.traceParent).toBe(traceParent);
      expect(await other.turnTraces.latest(turn)).toBe(traceParent);
      expect(await other.turnTraces.requestedAt(turn, 'c1/1')).toEqual(expect.any(Number));
      expect(await other.turnTraces.requestedAt(turn, 'none')).toBeNull();
    });

    test('is not there for a turn that is not traced', async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      expect(await storage.turnTraces.read(turn)).toBeNull();
      expect(await storage.turnTraces.latest(turn)).toBeNull();
      const asked = formQuestion(turn);
      await open(storage, asked);
      expect(await storage.elicitations.get(asked.id)).not.toHaveProperty('traceParent');
    });
  });
});
