/** What a turn and a question cost the database, in statements. More than is written here needs a reason. */
import { StatementSync } from 'node:sqlite';
import pg from 'pg';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openStorage } from '../../src/storage/open-storage.ts';
import { postgresUrl } from '../postgres.ts';
import type { DatabaseConfig } from './contract.ts';
import { ending, firstAttempt, newTurn, text } from './contract/fixtures.ts';
import { answer, formQuestion, open } from './contract/question.ts';

afterEach(() => void vi.restoreAllMocks());

describe.each([
  ['sqlite', async () => ({ kind: 'sqlite', path: ':memory:' })],
  ['postgres', async () => ({ kind: 'postgres', url: await postgresUrl() })],
] satisfies [string, () => Promise<DatabaseConfig>][])('on %s', (kind, config) => {
  test('a turn with one tool call and one question', async () => {
    await using stack = new AsyncDisposableStack();
    const storage = await openStorage(await config());
    stack.defer(() => storage.close());
    const statements = kind === 'sqlite' ? countSqlite() : countPostgres();
    const turn = newTurn();
    const question = formQuestion(turn);
    const message = (name: string) => ({ id: name, role: 'assistant' as const, content: 'said' });
    const call = { toolCallId: 'call', toolName: 'list', input: {} };
    const work: Record<string, () => Promise<unknown>> = {
      prepare: () => storage.turns.prepare(turn, ending),
      begin: () => storage.turns.begin(turn),
      'begin a step': () => storage.steps.begin(turn, { step: 0, attempt: 1 }),
      append: () => storage.steps.append(turn, { step: 0, attempt: 1 }, [text('a'), text('b')]),
      'keep a step': () =>
        storage.steps.keep(
          turn,
          { step: 0, attempt: 1 },
          {
            finish: 'tool-calls',
            usage: { inputTokens: 1, outputTokens: 1 },
            messages: [message('m1')],
            events: [text('c')],
            calls: [call],
          },
        ),
      'take a call': () => storage.toolCalls.take(turn, 'call', firstAttempt),
      'open a question': () => open(storage, question),
      'answer a question': () => answer(storage, question),
      'start a call': () => storage.toolCalls.start(turn, 'call', firstAttempt),
      'finish a call': () =>
        storage.toolCalls.finish(turn, 'call', { message: message('m2'), event: text('d') }, firstAttempt),
      end: () => storage.turns.end(turn, 'completed', { isOwn: true }),
      merge: () => storage.turnLog.merge(turn),
    };
    const counts: Record<string, number> = {};
    for (const [name, run] of Object.entries(work)) {
      statements.length = 0;
      await run();
      counts[name] = statements.length;
    }
    const lock = kind === 'postgres' ? 1 : 0;
    expect(counts).toEqual({
      prepare: 4,
      begin: 4,
      'begin a step': 1,
      append: 2,
      'keep a step': 5 + lock,
      'take a call': 1,
      'open a question': 8 + lock,
      'answer a question': 7 + lock,
      'start a call': 1,
      'finish a call': 6,
      end: 6,
      merge: 4 + lock,
    });
  });
});

/** Without those that begin and end transactions. */
function kept(sql: string, statements: string[]): void {
  if (!/^(begin|commit|rollback|savepoint|release|pragma|set |select pg_notify|start)/i.test(sql))
    statements.push(sql);
}

function countSqlite(): string[] {
  const statements: string[] = [];
  for (const method of ['run', 'all'] as const) {
    const original = StatementSync.prototype[method] as (...values: unknown[]) => unknown;
    vi.spyOn(StatementSync.prototype, method).mockImplementation(function (
      this: StatementSync,
      ...values: unknown[]
    ) {
      kept(this.sourceSQL, statements);
      return original.apply(this, values) as never;
    });
  }
  return statements;
}

function countPostgres(): string[] {
  const statements: string[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its client
  const original = pg.Client.prototype.query as (...values: unknown[]) => unknown;
  vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...values: unknown[]) {
    const [first] = values;
    const sql = typeof first === 'string' ? first : (first as { text?: unknown } | undefined)?.text;
    if (typeof sql === 'string') kept(sql, statements);
    return original.apply(this, values) as never;
  });
  return statements;
}
