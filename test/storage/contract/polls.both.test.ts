import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Turn } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import { openClock } from './clock.ts';
import { begunTurn } from './fixtures.ts';
import { open, question, settle } from './question.ts';

const leaseMs = 15_000;

onEachDatabase((subject) => {
  describe('a poll of an open question', () => {
    test('is due at the time it was given, and again when its lease has run out', async () => {
      await using at = await openClock(subject());
      const { poll, turn } = await asked(at.storage, { firstMs: 2_000 });
      expect(await claimed(at.storage)).toEqual([]);
      at.pass(2_000);
      expect(await at.storage.polls.claim(all, leaseMs)).toEqual([
        {
          id: poll,
          count: 1,
          questions: [expect.any(String)],
          subject: { kind: 'stream', turn: idsOf(turn), toolCallId: 'call', server: 'desk', round: 1 },
        },
      ]);
      expect(await claimed(at.other)).toEqual([]);
      at.pass(leaseMs);
      expect(await at.other.polls.claim(all, leaseMs)).toMatchObject([{ id: poll, count: 2 }]);
      await at.other.polls.again(poll, 100);
      at.pass(100);
      expect(await claimed(at.storage)).toEqual([poll]);
    });

    test('is shared by questions of one round, until the last of them is settled', async () => {
      await using at = await openClock(subject());
      const { poll, turn, questions } = await asked(at.storage);
      const second = question(turn, { poll: { ...newPoll(turn), id: poll } });
      await open(at.storage, second);
      const [first = ''] = questions;
      expect(await at.storage.polls.claim(all, leaseMs)).toMatchObject([
        { questions: expect.arrayContaining([first, second.id]) },
      ]);
      await settle(at.storage, first);
      expect(await at.storage.polls.hold([poll], leaseMs)).toEqual(new Set([poll]));
      at.pass(leaseMs);
      expect(await at.storage.polls.claim(all, leaseMs)).toMatchObject([{ questions: [second.id] }]);
      await at.storage.turns.end(turn, 'cancelled');
      expect(await at.storage.polls.hold([poll], leaseMs)).toEqual(new Set());
      at.pass(leaseMs);
      expect(await claimed(at.storage)).toEqual([]);
      expect(await at.storage.polls.isDue(['stream'], 0), 'it is forgotten').toBe(false);
    });

    test('of one server leaves places for others, and that of a busy one waits', async () => {
      await using at = await openClock(subject());
      for (let count = 0; count < 5; count++) await asked(at.storage, { server: 'crowded' });
      const { poll } = await asked(at.storage, { server: 'quiet' });
      expect(await at.storage.polls.claim({ ...all, except: ['crowded'] }, leaseMs)).toMatchObject([
        { id: poll },
      ]);
      at.pass(leaseMs);
      const servers = (await at.storage.polls.claim({ ...all, perServer: 2 }, leaseMs)).map(
        ({ subject: { server } }) => server,
      );
      expect(servers.toSorted()).toEqual(['crowded', 'crowded', 'quiet']);
      expect(await at.storage.polls.isDue(['stream'], leaseMs), 'some are left').toBe(true);
      expect(await at.storage.polls.isDue(['pages'], 0)).toBe(false);
    });

    test('is never claimed twice at once, however many processes claim', async () => {
      await using at = await openClock(subject());
      const polls = [];
      for (let count = 0; count < 12; count++) polls.push((await asked(at.storage)).poll);
      const claims = [at.storage, at.other, at.storage, at.other].map((on) => claimed(on, 5));
      const first = (await Promise.all(claims)).flat();
      const rest = await claimed(at.storage, 12);
      expect([...first, ...rest].toSorted()).toEqual(polls.toSorted());
    });
  });
});

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

function newPoll(turn: Turn, { server = 'desk', firstMs = 0 } = {}) {
  const subject = { kind: 'stream' as const, turn: idsOf(turn), toolCallId: 'call', server, round: 1 };
  return { id: randomUUID(), subject, firstMs };
}

async function asked(storage: Storage, options: Parameters<typeof newPoll>[1] = {}) {
  const turn = await begunTurn(storage);
  const poll = newPoll(turn, options);
  const row = question(turn, { poll });
  await open(storage, row);
  return { turn, poll: poll.id, questions: [row.id] };
}
