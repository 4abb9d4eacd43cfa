/** The clocks of processes are wrong by minutes. Nothing that waits may depend on them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCheckout } from './checkouts.ts';
import { startInstallation } from './installation.ts';
import type { Installation } from './installation.ts';
import { beginTurn, chatKinds, completed, expectOpen } from './waiting-turns.ts';

let at: Installation;
let next: ReturnType<typeof createCheckout>;
beforeAll(async () => {
  next = createCheckout(1);
  at = await startInstallation();
}, 180_000);
afterAll(async () => {
  await at.stop();
  next[Symbol.dispose]();
});

test(
  'a worker of the next release whose clock is three minutes ahead leaves the turns of the release before alone',
  { timeout: 400_000 },
  async ({ onTestFailed }) => {
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    const turns = chatKinds.map((kind) => beginTurn(at, kind, `clock-${kind}`));
    await Promise.all(turns.map((turn) => turn.asked()));
    await at.startWorker(2, { checkout: next, clockShiftMs: 180_000 });
    await at.startWorker(3, { checkout: next, clockShiftMs: 180_000 });
    // Two looks, 90 s apart, decide whether a turn is lost.
    await expectOpen(turns, 110_000);
    for (const turn of turns) expect([200, 202]).toContain((await turn.answer()).status);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
  },
);
