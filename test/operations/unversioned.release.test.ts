/** An upgrade from a release whose turns had no version: no worker of this one can go on with them. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '../service/user.ts';
import { createCaller } from '../service/user.ts';
import { createCheckout } from './checkouts.ts';
import { startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { workflowIdOf } from '../e2e/watch.ts';
import { beginTurn } from './waiting-turns.ts';
import type { ChatTurn } from './waiting-turns.ts';

let at: Installation;
let next: ReturnType<typeof createCheckout>;
let turn: ChatTurn;
let alice: Caller;
beforeAll(async () => {
  next = createCheckout(1);
  at = await startInstallation({ isUnversioned: true });
  turn = beginTurn(at, 'round', 'unversioned');
  await turn.asked();
  await at.workers[0]?.kill('SIGTERM');
  // Such a release writes no version into its rows, and knows of none.
  await at.database.query('update turns set build_id = null');
  await at.database.query('delete from deployed_versions');
  await at.startWorker(0, { checkout: next });
  await Promise.all([
    at.startWorker(1, { checkout: next }),
    at.startApi(0, { checkout: next }),
    at.startApi(1, { checkout: next }),
  ]);
  alice = createCaller(at.apiUrls[0], await at.deployment.token('alice'));
}, 180_000);
afterAll(async () => {
  await at.stop();
  next[Symbol.dispose]();
});

test('a turn without a version is reported', async ({ onTestFailed }) => {
  onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
  await expect
    .poll(() => at.deployment.output(), { timeout: 60_000 })
    .toMatch(/(turn|workflow)s? without a version/);
}, 80_000);

test('it ends when it is cancelled, and its conversation goes on', async ({ onTestFailed }) => {
  onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
  const { conversationId } = turn.turn.message;
  expect((await alice.cancel(conversationId)).status).toBe(200);
  expect(await turn.ended()).toMatchObject({ status: 'cancelled', done: [] });
  const workflow = at.workflows.getHandle(workflowIdOf(turn.turn));
  await expect.poll(async () => (await workflow.describe()).status.name).toBe('TERMINATED');
  const next = await alice.chat('hello', { conversation: conversationId, messageId: randomUUID() });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
}, 120_000);
