/** In the full suite one short run; before a release and by `npm run chaos` long ones, until their time is up. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { createCheckout, thisCheckout } from './checkouts.ts';
import { problemsOf, sayInBrief, violationsIn, writeReport } from './chaos-report.ts';
import { runChaos } from './chaos-run.ts';
import type { ChaosResult } from './chaos-run.ts';

const isShort = inject('suite') === 'full';
const minutes = Number(process.env['CHAOS_MINUTES'] ?? 30);
const runs = Number(process.env['CHAOS_RUNS'] ?? Infinity);
const firstSeed = Number(process.env['CHAOS_SEED'] ?? 1);
/** What a run that has begun may take when the time is up. */
const longestRunMs = 1_200_000;

let later: ReturnType<typeof createCheckout>[] = [];
beforeAll(() => {
  later = (isShort ? [1] : [1, 2, 3]).map(createCheckout);
});
afterAll(() => {
  for (const checkout of later) checkout[Symbol.dispose]();
});

const title = 'no turn is lost, nothing is done twice, and every receipt is true';

test.runIf(isShort)(title, { timeout: 600_000 }, async () => {
  const releases = [thisCheckout, ...later] as const;
  const result = await runChaos({
    seed: 24,
    turns: 12,
    steps: 3,
    longestAwayMs: 6_000,
    releases: [...releases],
  });
  process.stdout.write(`${sayInBrief(result)}\n`);
  expect(violationsIn(result), problemsOf(result)).toEqual([]);
});

test.runIf(!isShort)(title, { timeout: minutes * 60_000 + longestRunMs }, async () => {
  const results: ChaosResult[] = [];
  for (const until = Date.now() + minutes * 60_000; Date.now() < until && results.length < runs;) {
    const seed = firstSeed + results.length;
    const result = await runChaos({
      seed,
      turns: 48,
      steps: 8,
      longestAwayMs: 90_000,
      releases: [thisCheckout, ...later],
    });
    results.push(result);
    process.stdout.write(`${sayInBrief(result)}\n`);
    writeReport(results);
    if (violationsIn(result).length > 0) process.stdout.write(`${problemsOf(result)}\n`);
  }
  expect(results.flatMap(violationsIn)).toEqual([]);
});
