/**
 * The release before this one, with turns of every kind that wait, is replaced by this one in place; and this one by the
 * release before, after a rollback. Which commit the release before is, the file `baseline` says.
 */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createCheckoutOf, thisCheckout } from '../operations/checkouts.ts';
import type { Checkout } from '../operations/checkouts.ts';
import { startInstallation } from '../operations/installation.ts';
import type { Installation } from '../operations/installation.ts';
import { sqliteDatabase } from '../operations/outages.ts';
import { beginByA2A, beginByMcp, startWorkspace } from '../operations/other-surfaces.ts';
import { beginTurn, chatKinds, completed } from '../operations/waiting-turns.ts';
import type { WaitingTurn } from '../operations/waiting-turns.ts';
import { baseline, isBaselineHere } from './baseline.ts';

let before: ReturnType<typeof createCheckoutOf>;
beforeAll(() => {
  if (isBaselineHere) before = createCheckoutOf(baseline);
}, 400_000);
afterAll(() => {
  if (isBaselineHere) before[Symbol.dispose]();
});

const upgrade = { way: 'replaced by this one', from: () => before, to: () => thisCheckout };
const rollback = { way: 'after a rollback of this one', from: () => thisCheckout, to: () => before };

/** The others before a release. */
const variants =
  inject('suite') === 'full'
    ? [{ ...upgrade, database: 'SQLite' }]
    : [
        { ...upgrade, database: 'PostgreSQL' },
        { ...rollback, database: 'PostgreSQL' },
        { ...rollback, database: 'SQLite' },
      ];

test.skipIf(!isBaselineHere).for(variants)(
  'the release before is $way, on $database: every waiting turn goes on, and each call is made once',
  { timeout: 400_000 },
  async ({ from, to, database }, { onTestFailed }) => {
    await using stack = new AsyncDisposableStack();
    const slack = await startWorkspace();
    stack.defer(() => slack.stop());
    const isSqlite = database === 'SQLite';
    const at = await startInstallation({
      checkout: before,
      env: slack.env,
      ...(isSqlite && { database: sqliteDatabase() }),
    });
    stack.defer(() => at.stop());
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    await slack.link(at);
    const replace = isSqlite ? replaceAtOnce : replaceOneByOne;
    if (from() !== before) {
      await replace(at, from());
    }
    const turns: WaitingTurn[] = [];
    for (const set of ['one', 'two']) {
      for (const kind of chatKinds) turns.push(beginTurn(at, kind, `${set}-${kind}`));
      turns.push(await slack.begin(at, `${set}-slack`));
      turns.push(await beginByA2A(at, `${set}-a2a`));
      turns.push(await beginByMcp(at, `${set}-mcp`));
    }
    await Promise.all(turns.map((turn) => turn.asked()));

    if (to() === before) await at.rollBackTo(before);
    await replace(at, to());
    const receipts = await Promise.all(turns.map((turn) => turn.answer()));
    for (const { status } of receipts) expect([200, 202]).toContain(status);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
  },
);

async function replaceOneByOne(at: Installation, checkout: Checkout): Promise<void> {
  for (const place of [0, 1] as const) await at.startWorker(place, { checkout });
  for (const place of [0, 1] as const) await at.startApi(place, { checkout });
}

/** A file belongs to one machine, and to one release at a time. */
async function replaceAtOnce(at: Installation, checkout: Checkout): Promise<void> {
  await Promise.all([...at.apis, ...at.workers].map((running) => running.kill('SIGTERM')));
  await replaceOneByOne(at, checkout);
}
