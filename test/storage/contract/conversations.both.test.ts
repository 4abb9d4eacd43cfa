import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { ListedConversation } from '../../../src/storage/tables/conversations.ts';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnOwner } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import { begunTurn, keptStep, newTurn, step, text, ending } from './fixtures.ts';
import { nextMillisecond } from './clock.ts';

onEachDatabase((subject) => {
  const owner = (user: string | null = 'alice') => ({ tenant: `tenant-${randomUUID()}`, user });
  const names = (rows: ListedConversation[]) => rows.map(({ conversation }) => conversation);

  async function all({ conversations }: Storage, of: TurnOwner, limit: number): Promise<string[][]> {
    const pages = [];
    let after: ListedConversation | null = null;
    for (;;) {
      const page: ListedConversation[] = await conversations.list(of, { after, limit });
      if (page.length === 0) return pages;
      pages.push(names(page));
      after = page.at(-1) ?? null;
    }
  }

  describe('the list of conversations', () => {
    test('has the one first that changed last, and says which turn runs in it', async () => {
      const { storage } = subject();
      const alice = owner();
      const first = await begunTurn(storage, { ...alice, conversation: 'first' });
      const second = await begunTurn(storage, { ...alice, conversation: 'second' });
      await storage.turns.end(second, 'completed');
      await storage.turns.prepare(newTurn({ ...alice, conversation: 'second' }), ending);
      await nextMillisecond(storage);
      await storage.turnLog.append(first, [text('a')]);

      const list = await storage.conversations.list(alice, { after: null, limit: 10 });
      expect(list).toEqual([
        { ...(await storage.turns.conversation(first)), liveTurn: first.turnId },
        { ...(await storage.turns.conversation(second)), liveTurn: null },
      ]);
      expect(names(list)).toEqual(['first', 'second']);
    });

    test("has nobody else's: of another user, of a service, of another tenant", async () => {
      const { storage } = subject();
      const alice = owner();
      const { tenant } = alice;
      await begunTurn(storage, { ...alice, conversation: 'hers' });
      await begunTurn(storage, { tenant, user: 'bob', conversation: 'his' });
      const [billing, reports] = ['billing', 'reports'].map((service) => ({ tenant, user: null, service }));
      await begunTurn(storage, { ...billing, conversation: "a service's" });
      await begunTurn(storage, { ...reports, conversation: "another service's" });
      await begunTurn(storage, { tenant, user: null, conversation: 'of no service' });
      await begunTurn(storage, { ...owner(), conversation: 'elsewhere' });
      const page = { after: null, limit: 10 };
      expect(names(await storage.conversations.list(alice, page))).toEqual(['hers']);
      expect(names(await storage.conversations.list({ tenant, user: 'bob' }, page))).toEqual(['his']);
      const ofBilling = await storage.conversations.list({ tenant, user: null, service: 'billing' }, page);
      expect(names(ofBilling)).toEqual(["a service's"]);
      expect(names(await storage.conversations.list({ tenant, user: null }, page))).toEqual([
        'of no service',
      ]);
      expect(await storage.conversations.list(owner(null), page)).toEqual([]);
    });

    test('comes in pages of any size, also where many changed in the same millisecond', async () => {
      let now = 1_000;
      const storage = await openStorage(subject().database, { now: () => now });
      const alice = owner();
      const expected = [];
      for (const [index, name] of ['a', 'B', 'c', 'D', 'e', '_', '-', '1'].entries()) {
        now = index < 2 ? 1_000 : index < 6 ? 2_000 : 3_000;
        await begunTurn(storage, { ...alice, conversation: name });
        expected.push(name);
      }
      const [whole = []] = await all(storage, alice, 100);
      expect(whole.toSorted()).toEqual(expected.toSorted());
      expect(whole.slice(-2).toSorted()).toEqual(['B', 'a']);
      expect(whole.slice(0, 2).toSorted()).toEqual(['-', '1']);
      for (let limit = 1; limit < expected.length; limit += 1) {
        const pages = await all(storage, alice, limit);
        expect(pages.flat()).toEqual(whole);
        expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
      }
      await storage.close();
    });
  });

  describe('the turns of a conversation', () => {
    const newest = { before: null, limit: 10 };

    test('are those that began, in order, with what clients sent and the log of those that are over', async () => {
      const { storage } = subject();
      const history = [
        { id: 'turn-1/history/0', role: 'user', content: 'Hello' },
        { id: 'turn-1/history/1', role: 'assistant', content: 'Hello to you' },
        { id: 'm1', role: 'user', content: [{ type: 'text', text: 'And now?' }] },
      ] as const;
      const ref = { tenant: owner().tenant, conversation: 'told' };
      const turn = (number: number) => {
        const turnId = `${ref.tenant}/turn-${number}`;
        const messages = number === 1 ? history : [{ id: `m${number}`, role: 'user', content: '…' } as const];
        const named = messages.map((message) => ({ ...message, id: message.id.replace('turn-1', turnId) }));
        return newTurn({ ...ref, turnId, clientMessageId: `m${number}`, messages: named });
      };
      const first = await begunTurn(storage, turn(1));
      await keptStep(storage, first, {
        messages: [
          { id: `${first.turnId}/0`, role: 'assistant', content: 'private' },
          { id: `${first.turnId}/tool/c`, role: 'tool', content: 'private' },
        ],
        events: [step(0), text('a', 'Now'), text('b', ' this'), text('c', '.')],
      });
      await storage.turns.end(first, 'completed');
      await storage.turnLog.merge(first);
      const second = await begunTurn(storage, turn(2));
      await storage.turnLog.append(second, [text('a', 'not yet')]);

      const { turnId } = first;
      const at = expect.any(Number);
      const usage = { inputTokens: 0, outputTokens: 0 };
      const started = { type: 'turn-started', agent: 'assistant', messageId: turnId };
      expect(await storage.conversations.turns(ref, newest)).toEqual([
        {
          turnId,
          seq: 1,
          given: first.messages.map((message) => ({ ...message, turnId })),
          log: [
            { seq: 1, turnId, at, event: started },
            { seq: 2, turnId, at, event: { type: 'start-step', step: 0 } },
            { seq: 5, turnId, at, event: { type: 'text-delta', id: 'part', delta: 'Now this.' } },
            { seq: 6, turnId, at, event: { type: 'turn-ended', status: 'completed', usage } },
          ],
        },
        {
          turnId: second.turnId,
          seq: 7,
          given: [{ id: 'm2', turnId: second.turnId, role: 'user', content: '…' }],
          log: null,
        },
      ]);
      expect(first.messages).toHaveLength(3);
    });

    test('come in pages of any size, the newest first', async () => {
      const { storage } = subject();
      const ref = { tenant: owner().tenant, conversation: 'long' };
      const begun = [];
      for (let number = 0; number < 5; number += 1) {
        const turn = await begunTurn(storage, ref);
        await storage.turnLog.append(turn, [text('a'), text('b')]);
        await storage.turns.end(turn, 'completed');
        begun.push(turn.turnId);
      }
      for (let limit = 1; limit <= begun.length + 1; limit += 1) {
        const seen: string[] = [];
        for (let before: number | null = null; ;) {
          const page = await storage.conversations.turns(ref, { before, limit });
          if (page.length === 0) break;
          seen.unshift(...page.map(({ turnId }) => turnId));
          before = page[0]?.seq ?? null;
        }
        expect(seen).toEqual(begun);
      }
    });

    test('that are accepted are not among them until they begin', async () => {
      const { storage } = subject();
      const first = newTurn();
      const { tenant, conversation } = first;
      const second = newTurn({ tenant, conversation });
      await storage.turns.prepare(first, ending);
      const given = ({ turnId, messages }: NewTurn) => ({
        turnId,
        given: messages.map((message) => ({ ...message, turnId })),
      });
      expect(await storage.conversations.starting(first)).toEqual([given(first)]);
      await storage.turns.withdraw(first);
      await storage.turns.prepare(second, ending);
      expect(await storage.conversations.turns(first, newest)).toEqual([]);
      await storage.turns.begin(second);
      expect(await storage.conversations.starting(first)).toEqual([]);
      expect(await storage.conversations.turns(first, newest)).toEqual([
        { ...given(second), seq: 1, log: null },
      ]);
    });

    test('are none in a conversation that is not there, or that nothing began in', async () => {
      const { storage } = subject();
      const waiting = newTurn();
      await storage.turns.prepare(waiting, ending);
      expect(await storage.conversations.turns(waiting, newest)).toEqual([]);
      expect(await storage.conversations.starting(newTurn())).toEqual([]);
      expect(await storage.conversations.turns(newTurn(), newest)).toEqual([]);
    });
  });
});
