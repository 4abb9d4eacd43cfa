/** A change of the encryption key: everything sealed with the old one is brought to the new one, beside a running service. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { sealAccount, tryOpenAccount } from '../../../src/credentials/mcp-oauth/account.ts';
import { reseal } from '../../../src/credentials/sealing/reseal.ts';
import type { ResealOptions } from '../../../src/credentials/sealing/reseal.ts';
import { generateKey, parseKeys, prefixOf } from '../../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { bareEnvironment } from '../../bare-environment.ts';
import { postgresUrl } from '../../postgres.ts';
import type { DatabaseConfig } from '../../storage/contract.ts';
import { accountOf, everything, keepAccount, writeOneOfEach } from './sealed-things.ts';

const [k1, k2] = [generateKey('k1'), generateKey('k2')];
const old = parseKeys(k1);
const both = parseKeys(`${k2},${k1}`);
const fresh = parseKeys(k2);
const alice = { tenant: 'acme', server: 'tracker', user: 'alice' };
const tables = [
  'connections',
  'oauth_records',
  'oauth_attempts',
  'elicitation_answers',
  'tool_call_rounds',
  'workflow_code',
  'tool_effects',
  'push_configs',
  'slack_installations',
  'slack_events',
];

describe.each(['sqlite', 'postgres'] as const)('on %s', (kind) => {
  let folder: string;
  let database: DatabaseConfig;
  let storage: Storage;
  let other: Storage;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'interlude-reseal-'));
    database =
      kind === 'sqlite'
        ? { kind, path: path.join(folder, 'interlude.db') }
        : { kind, url: await postgresUrl() };
    storage = await openStorage(database);
    other = await openStorage(database);
  });
  afterEach(async () => {
    await Promise.all([storage.close(), other.close()]);
    await rm(folder, { recursive: true });
  });

  const run = (options: Partial<ResealOptions> = {}) => reseal({ storage, keys: both, ...options });
  const countUnder = async (keyId: string) => {
    const counts = await Promise.all(
      storage.sealed.tables.map((table) => storage.sealed.count(table, prefixOf(keyId))),
    );
    return counts.reduce((sum, { withPrefix }) => sum + withPrefix, 0);
  };
  /** As people run it. */
  const command = (keys: string, args: string[] = []) => {
    const DATABASE_URL = database.kind === 'sqlite' ? `sqlite:${database.path}` : database.url;
    const root = path.resolve(import.meta.dirname, '../../..');
    const env = { ...bareEnvironment(), DATABASE_URL, INTERLUDE_KEYS: keys, INTERLUDE_DATA: folder };
    const child = spawn(process.execPath, ['src/cli/checkout.ts', 'keys', 'reseal', ...args], {
      cwd: root,
      env,
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output, errors }));
    return { child, ended };
  };

  test('what was sealed before opens with the new key alone afterwards, and nothing else of it has changed', async () => {
    const read = await writeOneOfEach(storage, old);
    const before = await storage.connections.list({ tenant: 'acme', user: null });
    const report = await run();
    expect(report.tables.map(({ table }) => table)).toEqual(tables);
    for (const { table, resealed, newest, remaining, unreadable } of report.tables) {
      const expected = table === 'connections' ? 3 : 1;
      expect([table, [...resealed], newest]).toEqual([table, [['k1', expected]], expected]);
      expect([...remaining, ...unreadable]).toEqual([]);
    }
    expect(report).toMatchObject({ unused: ['k1'], wasStopped: false });
    expect(await read(fresh)).toEqual(everything);
    expect(await storage.connections.list({ tenant: 'acme', user: null })).toEqual(before);
  });

  test('what is known about servers does not become younger, nor a connection', async () => {
    await storage.oauth.remember('server:x', old.seal('x', 'server:x'));
    await keepAccount(storage, old, alice, 'token');
    const [record, connection] = [
      await storage.oauth.recall('server:x'),
      await storage.connections.get(alice),
    ];
    await sleep(2);
    await run();
    expect((await storage.oauth.recall('server:x'))?.updatedAt).toBe(record?.updatedAt);
    const { sealed: _, ...rest } = connection!;
    expect(await storage.connections.get(alice)).toMatchObject(rest);
  });

  test('every column that holds something sealed is looked at', async () => {
    const names = await columnsOf(database);
    expect(names.length).toBeGreaterThan(tables.length);
    const sealed = names
      .filter(({ column }) => column.startsWith('sealed') && !column.endsWith('_at'))
      .map(({ table }) => table);
    expect(sealed.toSorted()).toEqual(tables.toSorted());
  });

  test('each value is seen once, however small the batches', async () => {
    await writeOneOfEach(storage, old);
    await writeOneOfEach(storage, old);
    const { tables: counted } = await run({ dryRun: true, batchSize: 1 });
    expect(counted.map(({ resealed }) => resealed.get('k1'))).toEqual([6, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
  });

  test.each(tables)('what somebody else has written to %s meanwhile stays', async (table) => {
    await writeOneOfEach(storage, old);
    const named = storage.sealed.tables.find((one) => one === table)!;
    const page = { except: [prefixOf('k2')], after: null, limit: 10 };
    const values = await storage.sealed.page(named, page);
    const changes = (sealed: string) => values.map((value) => ({ value, sealed }));
    const expected = (were: boolean) => values.map(() => were);
    expect(await other.sealed.replace(changes('theirs'))).toEqual(expected(true));
    expect(await storage.sealed.replace(changes('ours'))).toEqual(expected(false));
    const after = await storage.sealed.page(named, page);
    expect(after.map(({ sealed }) => sealed)).toEqual(values.map(() => 'theirs'));
  });

  test('done again, it finds nothing to do', async () => {
    await writeOneOfEach(storage, old);
    await run();
    const report = await run();
    expect(report.tables.flatMap(({ resealed }) => [...resealed])).toEqual([]);
    expect(report.unused).toEqual(['k1']);
  });

  test('an empty database is no trouble', async () => {
    const { code, output } = await command(`${k2},${k1}`).ended;
    expect(code).toBe(0);
    expect(output).toContain('Nothing is sealed with "k1"');
  });

  test('a dry run counts, and changes nothing', async () => {
    const read = await writeOneOfEach(storage, old);
    const { code, output } = await command(`${k2},${k1}`, ['--dry-run']).ended;
    expect(code).toBe(0);
    expect(output).toContain('connections: 3 to be re-encrypted from "k1", 0 sealed with "k2" now');
    expect(output).toContain('Still needed: "k1"');
    expect(output).not.toContain('may be removed');
    expect(await read(old)).toEqual(everything);
  });

  test('what no key opens is left as it is, and told by table and key, never by content', async () => {
    const foreign = parseKeys(generateKey('k0'));
    await writeOneOfEach(storage, old);
    await keepAccount(storage, foreign, alice, 'token');
    const bob = { ...alice, user: 'bob' };
    await keepAccount(storage, old, alice, 'moved');
    const moved = (await storage.connections.get(alice))?.sealed ?? '';
    await keepAccount(storage, foreign, alice, 'token');
    const rest = { account: null, scopes: [], freshUntil: null };
    await storage.connections.establish(bob, { store: 'oauth', sealed: moved, ...rest });
    await storage.connections.establish(
      { ...bob, server: 'x' },
      { store: 'oauth', sealed: 'plain', ...rest },
    );
    await storage.connections.establish({ ...bob, server: 'y' }, { store: 'gone', sealed: moved, ...rest });
    const { code, output } = await command(`${k2},${k1}`).ended;
    expect(code).toBe(1);
    expect(output).toContain('1 cannot be opened (sealed with "k0", which INTERLUDE_KEYS does not have)');
    expect(output).toContain('2 cannot be opened (sealed with "k1", but damaged or moved)');
    expect(output).toContain('1 cannot be opened (not a sealed value)');
    expect(output).toContain('Still needed: "k1"');
    for (const private_ of ['alice', 'bob', 'acme', 'tracker', moved, 'plain'])
      expect([private_, output.includes(private_)]).toEqual([private_, false]);
    const row = await storage.connections.get(alice);
    expect(row && tryOpenAccount(foreign, row).kind).toBe('account');
  });

  test('attempts whose time is up and connections that are removed keep no key alive', async () => {
    const expired = { stateHash: 'h', sessionHash: 's', elicitationId: null, expiresAt: Date.now() - 1 };
    await storage.oauth.saveAttempt({ ...expired, sealed: parseKeys(generateKey('k0')).seal('x', 'x') });
    await keepAccount(storage, old, alice, 'token');
    await storage.connections.remove(alice);
    const report = await run();
    expect(report.tables.flatMap(({ unreadable, resealed }) => [...unreadable, ...resealed])).toEqual([]);
    expect(report.unused).toEqual(['k1']);
  });

  test('an account that is being renewed meanwhile keeps its new tokens, and is done afterwards', async () => {
    await keepAccount(storage, old, alice, 'before');
    const reached = Promise.withResolvers<void>();
    const { connections } = storage;
    const withLock: typeof connections.withLock = (...given) => {
      reached.resolve();
      return connections.withLock(...given);
    };
    const watched = { ...storage, connections: { ...connections, withLock } };
    const running = await other.connections.withLock(alice, 1_000, async () => {
      const row = await other.connections.get(alice);
      const resealing = run({ storage: watched });
      await Promise.race([reached.promise, resealing]);
      const next = { sealed: sealAccount(old, alice, accountOf('renewed')), freshUntil: null, scopes: [] };
      expect(await other.connections.refresh(row!, next)).toBe(true);
      return { resealing };
    });
    const report = await running.resealing;
    expect(report.unused).toEqual(['k1']);
    const row = await storage.connections.get(alice);
    expect(tryOpenAccount(fresh, row!)).toMatchObject({ account: { accessToken: 'renewed' } });
  });

  test('an account that somebody holds for too long is left for the next time, and said so', async () => {
    await keepAccount(storage, old, alice, 'token');
    await other.connections.withLock(alice, 1_000, async () => {
      const report = await run({ lockWaitMs: 20 });
      expect(report.tables[0]).toMatchObject({ remaining: new Map([['k1', 1]]), newest: 0 });
      expect(report.unused).toEqual([]);
    });
    expect((await run()).unused).toEqual(['k1']);
  });

  test('beside a process that writes all the time it loses nothing', async () => {
    const read = await writeOneOfEach(storage, old);
    const written: string[] = [];
    let isOver = false;
    const writing = (async () => {
      for (let index = 0; !isOver; index += 1) {
        const key = `server:${index % 20}`;
        await other.oauth.remember(key, old.seal(`value ${index}`, key));
        written[index % 20] = `value ${index}`;
        // SQLite answers at once: without this, nothing else would run.
        await setImmediate();
      }
    })();
    while (written.length < 20) await sleep(5);
    const report = await run({ batchSize: 3 });
    isOver = true;
    await writing;
    expect(report.tables.find(({ table }) => table === 'oauth_records')?.resealed.get('k1')).toBeGreaterThan(
      0,
    );
    for (const [index, value] of written.entries()) {
      const key = `server:${index}`;
      expect(both.open((await storage.oauth.recall(key))?.sealed ?? '', key)).toBe(value);
    }
    expect((await run()).unused).toEqual(['k1']);
    expect(await read(fresh)).toEqual(everything);
  });

  test('a process that never stops sealing with the old key keeps it from nothing but saying that the key may go', async () => {
    let count = 0;
    const page: typeof storage.sealed.page = async (...given) => {
      const values = await storage.sealed.page(...given);
      const key = `server:${(count += 1)}`;
      await other.oauth.remember(key, old.seal('value', key));
      return values;
    };
    const report = await run({ storage: { ...storage, sealed: { ...storage.sealed, page } } });
    const records = report.tables.find(({ table }) => table === 'oauth_records');
    expect(records?.resealed.get('k1')).toBeGreaterThan(2);
    expect(records?.remaining.get('k1')).toBeGreaterThan(0);
    expect(report.unused).toEqual([]);
    expect((await run()).unused).toEqual(['k1']);
  });

  test('killed half way it has harmed nothing, and the next run finishes', async () => {
    const users = Array.from({ length: 400 }, (_, index) => `user-${index}`);
    await Promise.all(users.map((user) => keepAccount(storage, old, { ...alice, user }, user)));
    const killed = async () => {
      const first = command(`${k2},${k1}`);
      while ((await countUnder('k2')) === 0) await sleep(5);
      first.child.kill('SIGKILL');
      const { code } = await first.ended;
      return { code, done: await countUnder('k2') };
    };
    let { code, done } = await killed();
    // On a busy machine the kill may come when all is done: then everything goes back to the old key, and again.
    while (done === users.length) {
      expect((await command(`${k1},${k2}`).ended).code).toBe(0);
      ({ code, done } = await killed());
    }
    expect(code).toBeNull();
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(users.length);
    const second = await command(`${k2},${k1}`).ended;
    expect(second.output).toContain(
      `connections: ${users.length - done} re-encrypted from "k1", 400 sealed with "k2" now`,
    );
    expect(second.code).toBe(0);
    for (const user of users) {
      const row = await storage.connections.get({ ...alice, user });
      expect(tryOpenAccount(fresh, row!)).toMatchObject({ account: { accessToken: user } });
    }
  });

  test('told to stop, it stops and says so', async () => {
    const users = Array.from({ length: 9 }, (_, index) => `user-${index}`);
    await Promise.all(users.map((user) => keepAccount(storage, old, { ...alice, user }, user)));
    const stop = new AbortController();
    const seen: number[][] = [];
    const report = await run({
      batchSize: 4,
      signal: stop.signal,
      onProgress({ done, of }) {
        seen.push([done, of]);
        if (done === 8) stop.abort();
      },
    });
    expect(seen).toEqual([
      [4, 9],
      [8, 9],
    ]);
    expect(report).toMatchObject({ wasStopped: true, unused: [] });
    expect(report.tables[0]).toMatchObject({
      resealed: new Map([['k1', 8]]),
      newest: 8,
      remaining: new Map(),
    });
    expect([await countUnder('k1'), await countUnder('k2')]).toEqual([1, 8]);
  });
});

async function columnsOf(database: DatabaseConfig): Promise<{ table: string; column: string }[]> {
  const named = (rows: Record<string, unknown>[]) =>
    rows.map((row) => ({ table: String(row['table']), column: String(row['column']) }));
  if (database.kind === 'sqlite') {
    const file = new DatabaseSync(database.path, { readOnly: true });
    const statement = `select tables.name as "table", columns.name as "column"
      from pragma_table_list as tables, pragma_table_info(tables.name) as columns where tables.schema = 'main'`;
    const rows = file.prepare(statement).all();
    file.close();
    return named(rows);
  }
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Record<string, unknown>>(
    `select table_name as "table", column_name as "column" from information_schema.columns
     where table_schema = 'public'`,
  );
  await client.end();
  return named(rows);
}
