/**
 * Twenty chaos runs over fifty waiting turns each. Their table is printed, and written to build/release-results.md; before a
 * release its sums are committed in docs/release-results.md. `CHAOS_SEEDS=5,6` repeats what these did.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCheckout, thisCheckout } from './checkouts.ts';
import { faultsOf, noFaults, problemsOf, runChaos, tableHead, toRow } from './chaos-run.ts';

const root = path.resolve(import.meta.dirname, '../..');
const seeds =
  process.env['CHAOS_SEEDS']?.split(',').map(Number) ?? Array.from({ length: 20 }, (_, index) => index + 1);
const rows: string[] = [];
let later: ReturnType<typeof createCheckout>[] = [];

beforeAll(() => {
  later = [1, 2, 3].map(createCheckout);
});
afterAll(() => {
  for (const checkout of later) checkout[Symbol.dispose]();
});

/** After each run, so that those that were made count when the rest is cut off. */
function writeRows(): void {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const day = new Date().toISOString().slice(0, 10);
  const text = `## ${day}, commit ${commit.trim()}, ${availableParallelism()} cores\n\n${[tableHead, ...rows].join('\n')}\n`;
  mkdirSync(path.join(root, 'build'), { recursive: true });
  writeFileSync(path.join(root, 'build/release-results.md'), text);
}

test.each(seeds)(
  'seed %i: no turn is lost, nothing is done twice, and every receipt is true',
  async (seed) => {
    const result = await runChaos({
      seed,
      turns: 50,
      steps: 8,
      longestAwayMs: 90_000,
      releases: [thisCheckout, ...later],
    });
    rows.push(toRow(result));
    process.stdout.write(`${rows.at(-1)}\n`);
    writeRows();
    expect(faultsOf(result), problemsOf(result)).toEqual(noFaults);
  },
);
