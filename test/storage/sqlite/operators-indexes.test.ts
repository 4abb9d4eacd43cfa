/** Lists of operators, and of tools, read an index, in its order, however many rows there are. */
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';

const page = { after: { createdAt: 1, id: 'a' }, limit: 10 };

/** What `read` reads, and how: the steps of its statements. */
async function statementsOf(read: (storage: Storage) => Promise<unknown>) {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-indexes-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'test.db');
  const storage = await openStorage({ kind: 'sqlite', path: file });
  onTestFinished(() => storage.close());
  const statements: string[] = [];
  const all = vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (this: StatementSync) {
    statements.push(this.sourceSQL);
    return [];
  });
  onTestFinished(() => all.mockRestore());
  await read(storage);
  all.mockRestore();
  using database = new DatabaseSync(file, { readOnly: true });
  return statements.map((sql) => ({
    sql,
    steps: database
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => String(detail)),
  }));
}

test('turns and questions are found by an index and need no sorting', async () => {
  const statements = await statementsOf(async ({ oversight, audit }) => {
    await oversight.turns('acme', {}, page);
    await oversight.turns('acme', { user: 'alice', state: 'waiting', server: 'tracker', since: 1 }, page);
    await oversight.turns('acme', { agent: 'lead', state: 'failed', until: 9 }, page);
    await oversight.questions('acme', { status: 'accept', server: 'tracker' }, page);
    await oversight.questionsOf('t');
    await audit.ofTurn('t');
  });
  const stepsOf = (some: typeof statements) => some.flatMap(({ steps }) => steps);
  const lists = statements.filter(({ sql }) => sql.includes('limit'));
  expect(lists).toHaveLength(4);
  expect(stepsOf(lists).filter((step) => /SCAN|TEMP B-TREE/.test(step))).toEqual([]);
  expect(statements.length).toBeGreaterThan(6);
  expect(stepsOf(statements).filter((step) => step.startsWith('SCAN'))).toEqual([]);
});

test('the tools of a server are found without the lists of all users', async () => {
  const key = { tenant: 'acme', server: 'tracker', user: 'alice' };
  const [statement, ...more] = await statementsOf(({ toolCatalogue }) => toolCatalogue.get(key));
  expect(more).toEqual([]);
  expect(statement?.steps.filter((step) => step.includes('tool_catalogue'))).toEqual([
    expect.stringContaining('(tenant=? AND server=? AND user_id=?)'),
    expect.stringContaining('USING INDEX tool_catalogue_shared (tenant=? AND server=?)'),
  ]);
});
