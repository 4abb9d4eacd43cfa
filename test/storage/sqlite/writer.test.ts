import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createSqliteWriter } from '../../../src/storage/sqlite/writer.ts';
import type { SqliteWriter } from '../../../src/storage/sqlite/writer.ts';

// A group that takes long is committed before it is complete: a pause of the process must not decide who shares a commit.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

class Counted extends DatabaseSync {
  commits = 0;

  override prepare(sql: string): StatementSync {
    const statement = super.prepare(sql);
    if (sql !== 'commit') return statement;
    const run = statement.run.bind(statement);
    statement.run = () => {
      this.commits += 1;
      return run();
    };
    return statement;
  }
}

/** A writer, and a reader of the same file on another connection. */
function opened() {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-writer-'));
  const file = path.join(folder, 'test.db');
  const database = new Counted(file, { enableForeignKeyConstraints: true });
  database.exec(`pragma journal_mode = wal;
    create table parents (id integer primary key);
    create table notes (text text, parent integer references parents (id));`);
  const reader = new DatabaseSync(file, { readOnly: true });
  const writer = createSqliteWriter(database);
  onTestFinished(async () => {
    reader.close();
    await writer.close();
    rmSync(folder, { recursive: true });
  });
  const textsIn = (connection: DatabaseSync) =>
    connection
      .prepare('select text from notes order by text')
      .all()
      .map(({ text }) => text);
  return { database, writer, seenInside: () => textsIn(database), seenOutside: () => textsIn(reader) };
}

async function write({ database, writer }: { database: DatabaseSync; writer: SqliteWriter }, text: string) {
  await writer.enter();
  database.prepare('insert into notes (text) values (?)').run(text);
  await writer.keep();
}

const wordsOf = (results: PromiseSettledResult<unknown>[]) => results.map(({ status }) => status);

test('who writes alone is committed when it is told so', async () => {
  const one = opened();
  await write(one, 'a');
  expect(one.seenOutside()).toEqual(['a']);
  expect(one.database.commits).toBe(1);
});

test('those who write at the same time share a commit, and all of it is there when the first is told', async () => {
  const many = opened();
  const texts = Array.from({ length: 20 }, (_, index) => String(index + 10));
  const seen = await Promise.all(
    texts.map(async (text) => {
      await write(many, text);
      return many.seenOutside().length;
    }),
  );
  expect(many.seenOutside()).toEqual(texts);
  expect(many.database.commits).toBe(1);
  expect(seen.every((count) => count > 0)).toBe(true);
});

test('what is not committed yet is seen by those who write along with it, and by nobody outside', async () => {
  const { database, writer, seenInside, seenOutside } = opened();
  await writer.enter();
  database.exec(`insert into notes (text) values ('first')`);
  const first = writer.keep();
  await writer.enter();
  expect(seenInside()).toEqual(['first']);
  expect(seenOutside()).toEqual([]);
  await Promise.all([first, writer.keep()]);
  expect(seenOutside()).toEqual(['first']);
});

test('a commit waits for whoever is in the middle of writing', async () => {
  const { database, writer, seenOutside } = opened();
  await writer.enter();
  database.exec(`insert into notes (text) values ('first')`);
  const first = writer.keep();
  await writer.enter();
  database.exec(`insert into notes (text) values ('half')`);
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(seenOutside()).toEqual([]);
  database.exec(`insert into notes (text) values ('whole')`);
  await Promise.all([first, writer.keep()]);
  expect(seenOutside()).toEqual(['first', 'half', 'whole']);
});

test.each([
  ['first', ['b', 'c']],
  ['second', ['a', 'c']],
])('when the %s of three fails, the others are written', async (which, left) => {
  const { database, writer, seenOutside } = opened();
  const parts = ['a', 'b', 'c'].map(async (text, index) => {
    await writer.enter();
    database.exec(`insert into notes (text) values ('${text}')`);
    if (index === (which === 'first' ? 0 : 1)) return writer.discard();
    return writer.keep();
  });
  await Promise.all(parts);
  expect(seenOutside()).toEqual(left);
});

test('a commit that fails fails everybody who shared it, and the next one works again', async () => {
  const shared = opened();
  const { database, writer, seenOutside } = shared;
  const orphan = async () => {
    await writer.enter();
    database.exec(`pragma defer_foreign_keys = on; insert into notes values ('orphan', 99)`);
    await writer.keep();
  };
  const results = await Promise.allSettled([write(shared, 'a'), orphan(), write(shared, 'b')]);
  expect(wordsOf(results)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(seenOutside()).toEqual([]);
  await write(shared, 'c');
  expect(seenOutside()).toEqual(['c']);
});

test('when SQLite takes everything back, nobody is told that it is written', async () => {
  const shared = opened();
  const { database, writer, seenOutside } = shared;
  const full = async (end: 'keep' | 'discard') => {
    await writer.enter();
    // What a full disk makes it do.
    database.exec('rollback');
    await writer[end]();
  };
  for (const end of ['keep', 'discard'] as const) {
    const results = await Promise.allSettled([write(shared, 'a'), full(end), write(shared, 'b')]);
    expect(wordsOf(results)).toEqual(['rejected', end === 'keep' ? 'rejected' : 'fulfilled', 'fulfilled']);
  }
  expect(seenOutside()).toEqual(['b', 'b']);
});

test('what runs alone finds everything committed, and no transaction around it', async () => {
  const { database, writer, seenOutside } = opened();
  await writer.enter();
  database.exec(`insert into notes (text) values ('a')`);
  const kept = writer.keep();
  const seen = await writer.alone(() => [database.isTransaction, seenOutside()]);
  expect(seen).toEqual([false, ['a']]);
  await kept;
});

test('a writer that takes its part back goes on once what it may have read is committed', async () => {
  const { database, writer, seenInside, seenOutside } = opened();
  const kept = write({ database, writer }, 'kept');
  await writer.enter();
  expect(seenInside()).toEqual(['kept']);
  expect(seenOutside()).toEqual([]);
  await writer.discard();
  expect(seenOutside()).toEqual(['kept']);
  await kept;
});
