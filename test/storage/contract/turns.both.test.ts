import { describe, expect, test } from 'vitest';
import type { TurnPosition } from '../../../src/storage/tables/turn-rows.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, keptStep, newTurn, seqs, ending } from './fixtures.ts';

onEachDatabase((subject) => {
  describe('turns', () => {
    test('a prepared turn is not visible in the conversation until it begins', async () => {
      const { storage } = subject();
      const turn = newTurn();
      expect(await storage.turns.prepare(turn, ending)).toEqual({ kind: 'prepared', buildId: '' });
      expect(await storage.messages.list(turn)).toEqual([]);
      expect(await storage.turnLog.read(turn, 0)).toEqual([]);
      expect(await storage.turns.live(turn)).toBeNull();
      expect((await storage.turns.get(turn))?.status).toBe('starting');

      expect(await storage.turns.begin(turn)).toBe(true);
      expect(await storage.messages.list(turn)).toEqual([
        { id: turn.clientMessageId, turnId: turn.turnId, role: 'user', content: 'Good morning' },
      ]);
      expect(await seqs(storage, turn)).toEqual([1]);
      const { messages: _, ...row } = turn;
      expect(await storage.turns.live(turn)).toEqual({
        ...row,
        service: null,
        status: 'running',
        createdAt: expect.any(Number),
        endingAt: null,
        endedAt: null,
        buildId: '',
        usage: null,
      });
    });

    test('beginning again, even at the same moment, begins once', async () => {
      const { storage, other } = subject();
      const turn = newTurn();
      await storage.turns.prepare(turn, ending);
      const begun = await Promise.all([storage, other, storage].map(({ turns }) => turns.begin(turn)));
      expect(begun).toEqual([true, true, true]);
      expect(await seqs(storage, turn)).toEqual([1]);
      expect(await storage.messages.list(turn)).toHaveLength(1);
    });

    test('a turn is either begun or withdrawn, never both', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 20; round++) {
        const turn = newTurn();
        await storage.turns.prepare(turn, ending);
        const [begun, withdrawn] = await Promise.all(
          round % 2 === 0
            ? [storage.turns.begin(turn), other.turns.withdraw(turn)]
            : [other.turns.withdraw(turn).then((gone) => !gone), storage.turns.begin(turn).then((on) => !on)],
        );
        expect(begun).toBe(!withdrawn);
        expect((await storage.turns.get(turn))?.status).toBe(begun ? 'running' : undefined);
        expect(await storage.turns.begin(turn)).toBe(begun);
        expect(await storage.turns.withdraw(turn)).toBe(withdrawn);
      }
    });

    test('a conversation whose only turn is withdrawn is as if it had never been', async () => {
      const { storage } = subject();
      const turn = newTurn();
      await storage.turns.prepare(turn, ending);
      await storage.turns.withdraw(turn);
      expect(await storage.turns.conversation(turn)).toBeNull();
      const { tenant, conversation } = turn;
      expect(await storage.turns.prepare(newTurn({ tenant, conversation, user: 'bob' }), ending)).toEqual({
        kind: 'prepared',
        buildId: '',
      });
    });

    test('a turn being prepared keeps the conversation that another one leaves', async () => {
      const { storage, other } = subject();
      for (let round = 0; round < 10; round++) {
        const leaving = newTurn();
        const { tenant, conversation } = leaving;
        const coming = newTurn({ tenant, conversation });
        await storage.turns.prepare(leaving, ending);
        await Promise.all([storage.turns.withdraw(leaving), other.turns.prepare(coming, ending)]);
        expect(await storage.turns.begin(coming)).toBe(true);
      }
    });

    test("somebody else's conversation is refused and stays as it was", async () => {
      const { storage } = subject();
      const turn = await begunTurn(storage);
      const { tenant, conversation } = turn;
      for (const user of ['bob', null]) {
        const foreign = newTurn({ tenant, conversation, user });
        expect(await storage.turns.prepare(foreign, ending)).toEqual({ kind: 'foreign-conversation' });
        expect(await storage.turns.get(foreign)).toBeNull();
      }
      const services = await begunTurn(storage, { tenant, user: null, service: 'billing' });
      for (const service of ['reports', null]) {
        const foreign = newTurn({ tenant, conversation: services.conversation, user: null, service });
        expect(await storage.turns.prepare(foreign, ending)).toEqual({ kind: 'foreign-conversation' });
      }
      expect(await storage.turns.conversation(services)).toMatchObject({ user: null, service: 'billing' });
      expect(await storage.turns.conversation(turn)).toMatchObject({ user: 'alice', agent: 'assistant' });
      expect(await storage.turns.prepare(newTurn({ conversation, user: 'bob' }), ending)).toEqual({
        kind: 'prepared',
        buildId: '',
      });
    });

    test('of requests with the same message at once, one prepares its turn and the others find it', async () => {
      const { storage, other } = subject();
      const first = newTurn();
      const { tenant, conversation, clientMessageId, messages } = first;
      const again = () => newTurn({ tenant, conversation, clientMessageId, messages });
      const racing = [first, again(), again(), again(), again(), again()];
      const prepared = await Promise.all(
        racing.map((turn, at) => (at % 2 === 0 ? storage : other).turns.prepare(turn, ending)),
      );
      expect(prepared.filter((result) => result.kind === 'known')).toHaveLength(5);
      const winner = racing[prepared.findIndex((result) => result.kind === 'prepared')] ?? first;
      const found = { turnId: winner.turnId, status: 'starting' };
      expect(await storage.turns.byClientMessage(first, clientMessageId)).toMatchObject(found);
      expect(await storage.turns.byClientMessage(first, 'unknown')).toBeNull();

      expect(await storage.turns.prepare(winner, ending)).toEqual({ kind: 'prepared', buildId: '' });
      await storage.turns.begin(winner);
      await storage.turns.end(winner, 'completed');
      expect(await other.turns.prepare(again(), ending)).toEqual({ kind: 'known' });
      expect(await storage.messages.list(first)).toHaveLength(1);
    });

    test('a message whose turn was withdrawn may be prepared again', async () => {
      const { storage } = subject();
      const withdrawn = newTurn();
      const { tenant, conversation, clientMessageId, messages } = withdrawn;
      await storage.turns.prepare(withdrawn, ending);
      expect(await storage.turns.withdraw(withdrawn)).toBe(true);
      expect(await storage.turns.byClientMessage(withdrawn, clientMessageId)).toBeNull();
      const again = newTurn({ tenant, conversation, clientMessageId, messages });
      expect(await storage.turns.prepare(again, ending)).toEqual({ kind: 'prepared', buildId: '' });
    });

    test('the first end wins, and reports what was used', async () => {
      const { storage, other } = subject();
      const turn = await begunTurn(storage);
      await keptStep(storage, turn, { usage: { inputTokens: 10, outputTokens: 1 } });
      await keptStep(storage, turn, { usage: { inputTokens: 20, outputTokens: 2 } });
      await Promise.all([storage.turns.end(turn, 'completed'), other.turns.end(turn, 'completed')]);
      await other.turns.end(turn, 'cancelled');
      const usage = { inputTokens: 30, outputTokens: 3 };
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'completed', usage });
      expect((await storage.turnLog.read(turn, 1)).map(({ event }) => event)).toEqual([
        { type: 'turn-ended', status: 'completed', usage },
      ]);
      expect(await storage.turns.live(turn)).toBeNull();
      expect(await storage.turns.begin(turn)).toBe(false);
    });

    test('a turn that ends before it began leaves no trace in the conversation', async () => {
      const { storage } = subject();
      const turn = newTurn();
      await storage.turns.prepare(turn, ending);
      await storage.turns.end(turn, 'cancelled');
      expect(await storage.turns.begin(turn)).toBe(false);
      expect(await storage.turns.get(turn)).toMatchObject({ status: 'cancelled' });
      expect(await storage.turnLog.read(turn, 0)).toEqual([]);
      expect(await storage.messages.list(turn)).toEqual([]);
    });

    test('a message that is already in the conversation does not enter it twice', async () => {
      const { storage } = subject();
      const first = await begunTurn(storage);
      await storage.turns.end(first, 'completed');
      const { tenant, conversation, messages } = first;
      const answer = { id: 'new', role: 'user' as const, content: 'And now?' };
      await begunTurn(storage, { tenant, conversation, messages: [...messages, answer] });
      expect((await storage.messages.list(first)).map(({ id }) => id)).toEqual([
        first.clientMessageId,
        'new',
      ]);
    });

    test('a turn that nobody began within an hour is forgotten when the next one comes', async () => {
      const { storage, database } = subject();
      const abandoned = newTurn();
      await storage.turns.prepare(abandoned, ending);
      const { tenant, conversation } = abandoned;
      const later = await openStorage(database, { now: () => Date.now() + 61 * 60 * 1000 });
      await later.turns.prepare(newTurn({ tenant, conversation }), ending);
      expect(await storage.turns.get(abandoned)).toBeNull();
      await later.close();
    });

    test("an owner's turns with an agent are listed, last changed first, page by page", async () => {
      const { storage } = subject();
      const first = await begunTurn(storage);
      const { tenant, agent, user, conversation } = first;
      await storage.turns.end(first, 'completed');
      const live = await begunTurn(storage, { tenant });
      await begunTurn(storage, { tenant, user: 'bob' });
      await begunTurn(storage, { tenant, agent: 'another' });
      const list = async (filter = {}, after: TurnPosition | null = null, limit = 10) => {
        const page = await storage.turns.list({ tenant, user }, { agent, ...filter }, { after, limit });
        return { ids: page.rows.map(({ turnId }) => turnId), ...page };
      };
      const all = await list();
      expect(all.total).toBe(2);
      expect(all.ids.toSorted()).toEqual([first.turnId, live.turnId].toSorted());
      const changed = all.rows.map(({ createdAt, endedAt }) => endedAt ?? createdAt);
      expect(changed).toEqual(changed.toSorted((a, b) => b - a));

      const page = await list({}, null, 1);
      expect(page.total).toBe(2);
      const [last] = page.rows;
      const after = { changedAt: last?.endedAt ?? last?.createdAt ?? 0, turnId: last?.turnId ?? '' };
      expect((await list({}, after)).ids).toEqual(all.ids.slice(1));

      expect((await list({ conversation })).ids).toEqual([first.turnId]);
      expect((await list({ statuses: ['running'] })).ids).toEqual([live.turnId]);
      expect((await list({ since: Math.max(...changed) + 1 })).ids).toEqual([]);
      expect(
        (await storage.turns.list({ tenant, user: null }, { agent }, { after: null, limit: 10 })).rows,
      ).toEqual([]);
    });
  });
});
