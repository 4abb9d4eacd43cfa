/**
 * Chaos runs, one after another until the time is up: `npm run chaos -- --minutes 30 --seed 1`. Prints a line for each run
 * and writes build/chaos-report.md; ends with 1 if a run has a violation. `--runs 1` repeats the run of a seed.
 */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: 'Infinity' },
  },
});
for (const [name, value] of Object.entries(values)) {
  if (!(Number(value) > 0)) throw new Error(`--${name} must be a number above zero: ${value}`);
  process.env[`CHAOS_${name.toUpperCase()}`] = value;
}
const vitest = await startVitest('test', ['test/operations/chaos.full.test.ts'], {
  project: 'release',
  watch: false,
});
await vitest.close();
