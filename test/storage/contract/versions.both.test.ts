import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts';
import { onEachDatabase } from '../contract.ts';
import type { DatabaseConfig } from '../contract.ts';
import { newTurn, ending } from './fixtures.ts';

onEachDatabase((subject) => {
  describe('versions', () => {
    const deployment = () => randomUUID();

    test('a version becomes current once; going back is a command, which its restart does not undo', async () => {
      const { storage, other } = subject();
      const name = deployment();
      expect(await storage.versions.current(name)).toBeNull();
      expect(await storage.versions.advance(name, 'one')).toBe(true);
      expect(await other.versions.advance(name, 'two')).toBe(true);
      expect(await storage.versions.advance(name, 'one')).toBe(false);
      expect(await storage.versions.current(name)).toBe('two');
      await other.versions.use(name, 'one');
      expect(await storage.versions.advance(name, 'two')).toBe(false);
      expect((await storage.versions.list(name)).map(({ buildId }) => buildId)).toEqual(['one', 'two']);
      expect(await storage.versions.current(deployment())).toBeNull();
    });

    test('going back again goes further back, and never to a version that was left, until it is chosen', async () => {
      const { storage, other } = subject();
      const name = deployment();
      for (const version of ['one', 'two', 'three']) await storage.versions.advance(name, version);
      const order = async () =>
        (await other.versions.list(name)).map(({ buildId, isRolledBack }) => [buildId, isRolledBack]);
      // Another version is current by now, or before it.
      expect(await storage.versions.goBack(name, 'two', 'one')).toBe(false);
      expect(await storage.versions.goBack(name, 'three', 'one')).toBe(false);
      const commands = [storage, other].map(({ versions }) => versions.goBack(name, 'three', 'two'));
      expect((await Promise.all(commands)).toSorted()).toEqual([false, true]);
      expect(await order()).toEqual([
        ['two', false],
        ['one', false],
        ['three', true],
      ]);
      expect(await storage.versions.goBack(name, 'two', 'three')).toBe(false);
      expect(await storage.versions.goBack(name, 'two', 'one')).toBe(true);
      expect(await storage.versions.advance(name, 'three')).toBe(false);
      expect(await storage.versions.current(name)).toBe('one');
      await storage.versions.use(name, 'three');
      expect(await order()).toEqual([
        ['three', false],
        ['one', false],
        ['two', true],
      ]);
    });

    test('nothing goes back while a version has started that is not current yet', async () => {
      const { storage, other } = subject();
      const name = deployment();
      for (const version of ['one', 'two']) await storage.versions.advance(name, version);
      const process = { id: randomUUID(), deployment: name, kind: 'worker', oldest: 1, newest: 2 } as const;
      await other.versions.renewLease({ ...process, buildId: 'three' }, 60_000);
      expect(await storage.versions.goBack(name, 'two', 'one')).toBe(false);
      await other.versions.endLease(process.id);
      expect(await storage.versions.goBack(name, 'two', 'one')).toBe(true);
    });

    test('of workers that start at once, each makes its version current once', async () => {
      const { storage, other } = subject();
      const name = deployment();
      const ids = ['a', 'b', 'a', 'b', 'a', 'b'];
      const advanced = await Promise.all(
        ids.map((id, at) => (at % 3 === 0 ? storage : other).versions.advance(name, id)),
      );
      expect(advanced.filter(Boolean)).toHaveLength(2);
      expect(await storage.versions.list(name)).toHaveLength(2);
    });

    test('a turn starts with the version that is current when it is prepared, and keeps it', async () => {
      const { storage } = subject();
      const name = deployment();
      const turn = newTurn();
      expect(await storage.turns.prepare(turn, ending, name)).toEqual({ kind: 'no-version' });
      expect(await storage.turns.get(turn)).toBeNull();
      await storage.versions.advance(name, 'one');
      expect(await storage.turns.prepare(turn, ending, name)).toEqual({ kind: 'prepared', buildId: 'one' });
      await storage.versions.advance(name, 'two');
      expect(await storage.turns.prepare(turn, ending, name)).toEqual({ kind: 'prepared', buildId: 'one' });
      expect((await storage.turns.get(turn))?.buildId).toBe('one');
      const open = async () => (await storage.versions.openTurns()).find(({ buildId }) => buildId === 'one');
      expect(await open()).toEqual({ buildId: 'one', turns: 1 });
      await storage.turns.begin(turn);
      await storage.turns.end(turn, 'completed');
      expect(await open()).toBeUndefined();
    });

    test('the versions of open turns are found, each once', async () => {
      const { storage, other } = subject();
      const before = await storage.versions.openVersions();
      const ids = [randomUUID(), randomUUID()].toSorted();
      const turns = [ids[0], ids[1], ids[1]].map((id) => ({ turn: newTurn(), id: id ?? '' }));
      for (const { turn, id } of turns) {
        const name = deployment();
        await storage.versions.advance(name, id);
        await storage.turns.prepare(turn, ending, name);
      }
      const { buildIds } = await other.versions.openVersions();
      expect(buildIds.filter((id) => !before.buildIds.includes(id)).toSorted()).toEqual(ids);

      for (const { turn } of turns) await storage.turns.end(turn, 'cancelled');
      expect(await other.versions.openVersions()).toEqual(before);
    });

    test('a process counts as living until its lease is over or given back', async () => {
      const { storage, other } = subject();
      const name = deployment();
      const process = { id: randomUUID(), deployment: name, kind: 'worker', oldest: 1, newest: 2 } as const;
      await storage.versions.renewLease(process, 60_000);
      expect(await other.versions.living(name)).toEqual([process]);
      // Two readings of one clock differ by milliseconds.
      await storage.versions.renewLease(process, -10_000);
      expect(await other.versions.living(name)).toEqual([]);
      await storage.versions.renewLease(process, 60_000);
      await storage.versions.endLease(process.id);
      expect(await other.versions.living(name)).toEqual([]);
    });

    const openQuery = (database: DatabaseConfig) =>
      database.kind === 'sqlite'
        ? openSqlite(database.path)
        : openPostgres(database.url, pino({ level: 'silent' }));
    const executed = (name: string, agoMs: number) =>
      sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date(Date.now() - agoMs).toISOString()})`;

    test('a database that the 51 earlier migrations created is up to date', async () => {
      const database = await subject().fresh();
      await (await openStorage(database)).close();
      const { query, close } = await openQuery(database);
      for (const name of ['001-conversations', '050-services-and-sessions'])
        await executed(name, 60_000).execute(query);
      await close();
      const storage = await openStorage(database);
      await storage.ping();
      await storage.close();
    });

    test('a database that has only some of them is left as it is, with the commit that migrates it', async () => {
      const database = await subject().fresh();
      await (await openStorage(database)).close();
      const { query, close } = await openQuery(database);
      await sql`delete from kysely_migration`.execute(query);
      await executed('001-conversations', 60_000).execute(query);
      await executed('045-plain-tools', 30_000).execute(query);
      await expect(openStorage(database)).rejects.toThrow(/045-plain-tools.*commit 53bbe43d/);
      const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(query);
      expect(rows.map(({ name }) => name).toSorted()).toEqual(['001-conversations', '045-plain-tools']);
      await close();
    });

    test('after a rollback, the older release opens a database that a later one has migrated', async () => {
      const database = await subject().fresh();
      await (await openStorage(database)).close();
      const { query, close } = await openQuery(database);
      await executed('999-of-a-later-release', -60_000).execute(query);
      await close();
      const storage = await openStorage(database);
      await storage.ping();
      await storage.close();
    });
  });
});
