/** Two short chaos runs; `npm run test:release` has twenty long ones. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCheckout, thisCheckout } from './checkouts.ts';
import { faultsOf, noFaults, problemsOf, runChaos, tableHead, toRow } from './chaos-run.ts';

let next: ReturnType<typeof createCheckout>;
beforeAll(() => {
  next = createCheckout(1);
});
afterAll(() => next[Symbol.dispose]());

/** `CHAOS_SEEDS=5,6` repeats what these did. */
const seeds = process.env['CHAOS_SEEDS']?.split(',').map(Number) ?? [3, 15];

test.each(seeds)(
  'seed %i: no turn is lost, nothing is done twice, and every receipt is true',
  { timeout: 600_000 },
  async (seed) => {
    const result = await runChaos({
      seed,
      turns: 14,
      steps: 3,
      longestAwayMs: 15_000,
      releases: [thisCheckout, next],
    });
    process.stdout.write(`${tableHead}\n${toRow(result)}\n`);
    expect(faultsOf(result), problemsOf(result)).toEqual(noFaults);
  },
);
