/** Two releases run side by side, and Temporal is away for a while: its list of pollers is empty when it comes back. */
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

/** How long Temporal is away, and how long everything runs afterwards. */
const outages = [
  { awayMs: 25_000, backMs: 15_000 },
  { awayMs: 45_000, backMs: 15_000 },
  // Two looks at a healthy Temporal, 90 s apart, decide whether a turn is lost.
  { awayMs: 65_000, backMs: 110_000 },
];

test(
  'turns of both releases wait through outages of Temporal, and go on with their answers',
  { timeout: 600_000 },
  async ({ onTestFailed }) => {
    onTestFailed(() => void process.stderr.write(`${at.log()}\n`));
    const begin = (release: string) => chatKinds.map((kind) => beginTurn(at, kind, `${release}-${kind}`));
    const old = begin('old');
    await Promise.all(old.map((turn) => turn.asked()));
    await at.startWorker(2, { checkout: next });
    await at.startWorker(3, { checkout: next });
    const turns = [...old, ...begin('new')];
    await Promise.all(turns.map((turn) => turn.asked()));

    for (const { awayMs, backMs } of outages) {
      await at.temporal.away(awayMs);
      await expectOpen(turns, backMs);
    }
    for (const turn of turns) expect([200, 202]).toContain((await turn.answer()).status);
    for (const turn of turns) expect(await turn.ended()).toEqual(completed(turn));
  },
);
