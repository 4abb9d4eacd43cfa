/** Lists of operators read an index, in its order, however many turns there are. */
import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';

const page = { after: { createdAt: 1, id: 'a' }, limit: 10 };

test('turns and questions are found by an index and need no sorting', async () => {
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
  const { oversight } = storage;
  await oversight.turns('acme', {}, page);
  await oversight.turns('acme', { user: 'alice', state: 'waiting', server: 'tracker', since: 1 }, page);
  await oversight.turns('acme', { agent: 'lead', state: 'failed', until: 9 }, page);
  await oversight.questions('acme', { status: 'accept', server: 'tracker' }, page);
  await oversight.questionsOf('t');
  await storage.audit.ofTurn('t');
  all.mockRestore();
  using database = new DatabaseSync(file, { readOnly: true });
  const planOf = (sql: string) =>
    database
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
  const lists = statements.filter((sql) => sql.includes('limit'));
  expect(lists).toHaveLength(4);
  expect(lists.flatMap(planOf).filter((step) => /SCAN|TEMP B-TREE/.test(step))).toEqual([]);
  expect(statements.length).toBeGreaterThan(6);
  expect(statements.flatMap(planOf).filter((step) => step.startsWith('SCAN'))).toEqual([]);
});
