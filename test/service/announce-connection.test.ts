import path from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createConnectionAnnouncer } from '../../src/service/announce-connection.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { ask, beginTurn, tenant } from '../api/api-under-test.ts';
import { testFolder } from '../test-folder.ts';

/** A question whose account is connected, and whose workflow hears of it but never comes to act on it. */
async function unheard() {
  const folder = testFolder();
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'interlude.db') });
  onTestFinished(() => storage.close());
  await ask(storage, await beginTurn(storage, 'c1'));
  const establish = () =>
    storage.connections.establish(
      { tenant, server: 'tracker', user: 'alice' },
      { store: 'oauth', account: null, scopes: [], sealed: '', freshUntil: null },
    );
  await establish();
  const told: [atSeconds: number, version: number][] = [];
  let nowMs = 0;
  const news = createConnectionAnnouncer({
    storage,
    config: { servers: new Map() },
    workflows: {
      async signalConnected(_, version) {
        told.push([nowMs / 1000, version]);
        return 'delivered';
      },
    },
    logger: pino({ level: 'silent' }),
    now: () => nowMs,
  });
  const pass = async (seconds: number) => {
    for (const end = nowMs + seconds * 1000; nowMs < end; nowMs += 5_000) await news.reconcile();
  };
  return { told, pass, establish, storage };
}

test('news is repeated ever more slowly to a turn that does not act on it', async () => {
  const { told, pass } = await unheard();
  await pass(600);
  expect(told.map(([at]) => at).slice(0, 6)).toEqual([0, 5, 15, 35, 75, 155]);
  expect(told.length).toBeLessThan(10);
});

test('a connection that is new since the last round is repeated by the next one, also to a turn that did not act on the old', async () => {
  const { told, pass, establish } = await unheard();
  await pass(300);
  await establish();
  const before = told.length;
  await pass(30);
  expect(told.slice(before)).toEqual([
    [305, 2],
    [310, 2],
    [320, 2],
  ]);
});

test('a question that is settled is forgotten', async () => {
  const { told, pass, storage } = await unheard();
  await pass(5);
  await storage.elicitations.settle('question-of-c1', 'accept', null);
  await pass(600);
  expect(told).toHaveLength(1);
});
