import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Turn } from '../../../src/turn/turn.ts';
import type { Subject } from '../contract.ts';
import { openClock } from './clock.ts';
import { begunTurn } from './fixtures.ts';
import { question } from './question.ts';

const leaseMs = 15_000;

export function looksContract(subject: () => Subject): void {
  describe('what is looked at while questions are open', () => {
    test('is due when it was said, and again when a claim has run out', async () => {
      await using at = await openClock(subject());
      const { look, turn } = await asked(at.storage, { firstMs: 2_000 });
      expect(await claimed(at.storage)).toEqual([]);
      at.pass(2_000);
      expect(await at.storage.polls.claim(all, leaseMs)).toEqual([
        {
          id: look,
          workflowId: 'turn/1',
          count: 1,
          questions: [expect.any(String)],
          subject: { kind: 'stream', turn: idsOf(turn), toolCallId: 'call', server: 'desk', round: 1 },
        },
      ]);
      expect(await claimed(at.other)).toEqual([]);
      at.pass(leaseMs);
      expect(await at.other.polls.claim(all, leaseMs)).toMatchObject([{ id: look, count: 2 }]);
      await at.other.polls.again(look, 100);
      at.pass(100);
      expect(await claimed(at.storage)).toEqual([look]);
    });

    test('is shared by questions of one round, until the last of them is settled', async () => {
      await using at = await openClock(subject());
      const { look, turn, questions } = await asked(at.storage);
      const second = question(turn);
      await at.storage.elicitations.open(second, 20, { ...newLook(turn), id: look });
      const [first = ''] = questions;
      expect(await at.storage.polls.claim(all, leaseMs)).toMatchObject([
        { questions: expect.arrayContaining([first, second.id]) },
      ]);
      await at.storage.elicitations.settle(first, 'accept', null);
      expect(await at.storage.polls.hold([look], leaseMs)).toEqual(new Set([look]));
      at.pass(leaseMs);
      expect(await at.storage.polls.claim(all, leaseMs)).toMatchObject([{ questions: [second.id] }]);
      await at.storage.turns.end(turn, 'cancelled');
      expect(await at.storage.polls.hold([look], leaseMs)).toEqual(new Set());
      at.pass(leaseMs);
      expect(await claimed(at.storage)).toEqual([]);
      expect(await at.storage.polls.isDue(['stream'], 0), 'it is forgotten').toBe(false);
    });

    test('of one server leaves room for others, and that of a busy one waits', async () => {
      await using at = await openClock(subject());
      for (let count = 0; count < 5; count++) await asked(at.storage, { server: 'crowded' });
      const { look } = await asked(at.storage, { server: 'quiet' });
      expect(await at.storage.polls.claim({ ...all, except: ['crowded'] }, leaseMs)).toMatchObject([
        { id: look },
      ]);
      at.pass(leaseMs);
      const servers = (await at.storage.polls.claim({ ...all, perServer: 2 }, leaseMs)).map(
        ({ subject: { server } }) => server,
      );
      expect(servers.toSorted()).toEqual(['crowded', 'crowded', 'quiet']);
      expect(await at.storage.polls.isDue(['stream'], leaseMs), 'some are left').toBe(true);
      expect(await at.storage.polls.isDue(['pages'], 0)).toBe(false);
    });

    test('is never claimed twice at once, in whatever number processes come', async () => {
      await using at = await openClock(subject());
      const looks = [];
      for (let count = 0; count < 12; count++) looks.push((await asked(at.storage)).look);
      const claims = [at.storage, at.other, at.storage, at.other].map((on) => claimed(on, 5));
      const first = (await Promise.all(claims)).flat();
      const rest = await claimed(at.storage, 12);
      expect([...first, ...rest].toSorted()).toEqual(looks.toSorted());
    });
  });
}

const all = { kinds: ['stream' as const, 'pages' as const], limit: 20, perServer: 20, except: [] };

async function claimed({ polls }: Storage, limit = 20): Promise<string[]> {
  return (await polls.claim({ ...all, limit }, leaseMs)).map(({ id }) => id);
}

const idsOf = ({ tenant, conversation, turnId, agent, user, capabilities }: Turn): Turn => ({
  tenant,
  conversation,
  turnId,
  agent,
  user,
  capabilities,
});

function newLook(turn: Turn, { server = 'desk', firstMs = 0 } = {}) {
  const subject = { kind: 'stream' as const, turn: idsOf(turn), toolCallId: 'call', server, round: 1 };
  return { id: randomUUID(), subject, firstMs };
}

async function asked(storage: Storage, options: Parameters<typeof newLook>[1] = {}) {
  const turn = await begunTurn(storage);
  const look = newLook(turn, options);
  const row = question(turn);
  await storage.elicitations.open(row, 20, look);
  return { turn, look: look.id, questions: [row.id] };
}
