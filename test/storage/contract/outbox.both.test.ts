import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { onEachDatabase } from '../contract.ts';
import type { DatabaseConfig } from '../contract.ts';
import { openClock } from './clock.ts';
import { begunTurn } from './fixtures.ts';
import { answer, formQuestion, open, settle } from './question.ts';

const leaseMs = 5_000;

onEachDatabase((subject) => {
  async function asked(storage: Storage, count = 1) {
    const turn = await begunTurn(storage);
    const rows = Array.from({ length: count }, (_, index) =>
      formQuestion(turn, { waiter: { toolCallId: `c${index}`, workflowId: `turn/${index}` } }),
    );
    for (const row of rows) await open(storage, row, { perUser: 200 });
    return { turn, rows };
  }
  const refOf = ({ tenant, conversation, turnId }: TurnRef) => ({ tenant, conversation, turnId });
  const idsOf = (marks: { id: string }[]) => marks.map(({ id }) => id).toSorted();

  describe('a mark of the outbox', () => {
    test('is given to the process that committed it, and due for others when its lease is over', async () => {
      await using at = await openClock(subject());
      const { rows } = await asked(at.storage);
      for (const row of rows) await answer(at.storage, row);
      expect(at.marks).toHaveLength(1);
      expect(await at.other.outbox.claim(10, leaseMs)).toEqual([]);
      at.pass(leaseMs);
      expect(await at.other.outbox.claim(10, leaseMs)).toEqual(at.marks);
      expect(await at.storage.outbox.claim(10, leaseMs), 'leased again').toEqual([]);
      await at.other.outbox.done(idsOf(at.marks));
      at.pass(leaseMs);
      expect(await at.storage.outbox.claim(10, leaseMs)).toEqual([]);
    });

    test('that could not be delivered is due again after a delay that doubles up to ten minutes', async () => {
      await using at = await openClock(subject());
      const { rows } = await asked(at.storage);
      for (const row of rows) await answer(at.storage, row);
      const ids = idsOf(at.marks);
      for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]) {
        await at.storage.outbox.failed(ids);
        at.pass(seconds * 1_000 - 1);
        expect(await at.storage.outbox.claim(10, leaseMs)).toEqual([]);
        at.pass(1);
        expect(idsOf(await at.storage.outbox.claim(10, leaseMs))).toEqual(ids);
      }
    });

    test('of a command is due at once for other processes, beside one to report each question it has settled', async () => {
      await using at = await openClock(subject());
      const { turn, rows } = await asked(at.storage);
      const ids = rows.map(({ id }) => id);
      const settled = await at.storage.elicitations.settle(ids, { type: 'expired-by-operator' });
      const { outbox } = at.storage;
      await outbox.handOver(
        at.marks,
        settled.map(({ question }) => question),
      );
      const due = await at.other.outbox.claim(10, leaseMs);
      expect(due).toHaveLength(2);
      expect(due).toEqual(
        expect.arrayContaining([
          ...at.marks,
          {
            id: `report/${ids[0]}`,
            kind: 'report',
            elicitationId: ids[0],
            turn: expect.objectContaining(refOf(turn)),
          },
        ]),
      );
      await at.other.outbox.done(idsOf(due));
      expect(await outbox.claim(10, leaseMs)).toEqual([]);
    });

    test('is not written for the workflow whose own activity settles the question', async () => {
      await using at = await openClock(subject());
      const { rows } = await asked(at.storage, 2);
      const ids = rows.map(({ id }) => id);
      await at.storage.elicitations.settle(ids, { type: 'abandoned' }, { except: 'turn/0' });
      expect(at.marks).toMatchObject([{ kind: 'settled', workflowId: 'turn/1', elicitationId: ids[1] }]);
    });

    test('is left to the loop where 32 are being delivered, in all processes', async () => {
      await using at = await openClock(subject());
      const { rows } = await asked(at.storage, 80);
      const [first, second, ...rest] = [rows.slice(0, 20), rows.slice(20, 40), ...rows.slice(40)];
      for (const some of [first, second]) {
        const ids = some.map(({ id }) => id);
        await at.storage.elicitations.settle(ids, { type: 'abandoned' });
      }
      expect(at.marks).toHaveLength(32);
      for (const row of rest) await answer(at.storage, row);
      expect(at.marks).toHaveLength(32);
      // As many as there are, each once, by however many processes.
      const claims = Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? at.storage : at.other).outbox.claim(4, leaseMs),
      );
      const claimed = (await Promise.all(claims)).flat();
      expect(claimed.length).toBe(new Set(idsOf(claimed)).size);
      expect(idsOf(claimed)).not.toEqual(expect.arrayContaining(idsOf(at.marks.slice(0, 1))));

      await at.storage.outbox.done(idsOf(at.marks));
      await at.other.outbox.done(idsOf(claimed));
      const { rows: next } = await asked(at.storage);
      for (const { id } of next) await settle(at.storage, id);
      expect(at.marks, 'there is room again').toHaveLength(33);
    });

    test('is kept with what it is about, or not at all', async () => {
      await using at = await openClock(subject());
      const { turn, rows } = await asked(at.storage);
      await at.storage.turns.end(turn, 'cancelled');
      expect(at.marks).toMatchObject([{ kind: 'cancel' }]);
      for (const row of rows) await answer(at.storage, row);
      expect(at.marks, 'its question is closed').toHaveLength(1);
      await at.other.turns.end(turn, 'failed');
      at.pass(leaseMs);
      expect(await at.other.outbox.claim(10, leaseMs)).toEqual(at.marks);
    });

    test('is not written by a commit that fails, which gives no receipt', async () => {
      const database = await subject().fresh();
      const told: unknown[] = [];
      const tell = (given: unknown) => void told.push(given);
      const storage = await openStorage(database, {
        outbox: tell,
        questions: { opened() {}, settled: tell },
      });
      const { rows } = await asked(storage);
      const [row] = rows;
      if (!row) throw new Error('one was asked');
      await failAtCommit(database);
      await expect(answer(storage, row)).rejects.toThrow(/constraint/i);
      expect(await storage.elicitations.get(row.id)).toMatchObject({ status: 'pending' });
      expect(await storage.elicitations.recorded(row.id, 'response/accept')).toBeNull();
      expect(told).toEqual([]);
      await storage.close();
    });
  });
});

/** From now on an answer violates a constraint that is checked when its transaction commits. */
async function failAtCommit(database: DatabaseConfig): Promise<void> {
  const { query, close } =
    database.kind === 'sqlite'
      ? await openSqlite(database.path)
      : openPostgres(database.url, pino({ level: 'silent' }));
  await sql`create table impossible (
    elicitation_id text references elicitations (id) deferrable initially deferred
  )`.execute(query);
  if (database.kind === 'sqlite')
    await sql`create trigger fail after insert on elicitation_answers
      begin insert into impossible values ('none'); end`.execute(query);
  else {
    await sql`create function fail() returns trigger language plpgsql as
      $$ begin insert into impossible values ('none'); return new; end $$`.execute(query);
    await sql`create trigger fail after insert on elicitation_answers for each row execute function fail()`.execute(
      query,
    );
  }
  await close();
}
