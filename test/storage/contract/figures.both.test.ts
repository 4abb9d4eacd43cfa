import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';
import { begunTurn, ending, newTurn } from './fixtures.ts';
import { answer, formQuestion, open, question } from './question.ts';

onEachDatabase((subject) => {
  describe('figures', () => {
    test('count open and overdue questions by the server whose account they ask for', async () => {
      await using at = await openClock(subject());
      const turn = await begunTurn(at.storage);
      await open(at.storage, [
        question(turn, { timeoutMs: 1_000 }),
        question(turn, { place: 'other', user: 'bob' }),
        formQuestion(turn),
      ]);
      const { questions } = await at.other.figures();
      expect(questions).toContainEqual({ server: 'tracker', open: 2, overdue: 0 });
      expect(questions).toContainEqual({ server: null, open: 1, overdue: 0 });
      at.pass(1_001);
      expect((await at.storage.figures()).questions).toContainEqual({
        server: 'tracker',
        open: 2,
        overdue: 1,
      });
    });

    test('count live turns by what they do', async () => {
      const storage = await openStorage(await subject().fresh());
      await storage.turns.prepare(newTurn(), ending);
      await begunTurn(storage);
      const asking = await begunTurn(storage);
      await open(storage, [formQuestion(asking), formQuestion(asking)]);
      const ended = await begunTurn(storage);
      await storage.turns.end(ended, 'completed');
      const { turns } = await storage.figures();
      expect(turns).toEqual({ starting: 1, waiting: 1, running: 1 });
      await storage.close();
    });

    test('say how much is in the outbox, and for how long the first of it has been due', async () => {
      await using at = await openClock(subject());
      const turn = await begunTurn(at.storage);
      const row = formQuestion(turn);
      await open(at.storage, row);
      const before = await at.storage.figures();
      await answer(at.storage, row);
      const { pending } = (await at.storage.figures()).outbox;
      expect(pending).toBe(before.outbox.pending + 1);
      at.pass(65_000);
      expect((await at.storage.figures()).outbox.overdueMs).toBeGreaterThanOrEqual(60_000);
      await at.storage.outbox.done(at.marks.map(({ id }) => id));
    });

    test('of an empty database are zero', async () => {
      const storage = await openStorage(await subject().fresh());
      expect(await storage.figures()).toEqual({
        questions: [{ server: null, open: 0, overdue: 0 }],
        turns: { starting: 0, waiting: 0, running: 0 },
        outbox: { pending: 0, overdueMs: 0 },
      });
      await storage.close();
    });
  });
});
