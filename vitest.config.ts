import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { UnfinishedTests } from './test/setup/unfinished-tests.ts';

/** What `npm run test:full` runs, and `npm test` does not: see docs/decisions/0048-two-suites.md. */
const full = '{test,packages/*/test}/**/*.full.test.ts';
/** In both: the daily suite runs one variant of these tests and the full suite the others, by `inject('suite')`. */
const both = '{test,packages/*/test}/**/*.both.test.ts';
/** What `npm run test:release` runs, for more than an hour. */
const release = '{test,packages/*/test}/**/*.release.test.ts';
/** In the full suite and before a release, where `inject('suite')` chooses the variants that take longest. */
const longer = [
  'packages/kit/test/try/peers.full.test.ts',
  'packages/program/test/acp/peers.full.test.ts',
  'test/storage/contract/*.both.test.ts',
  'test/api/a2a/killed.full.test.ts',
  'test/clients/cut-everywhere.full.test.ts',
  'test/conformance/conformance.full.test.ts',
  'test/durable-tools/stuck-calls.full.test.ts',
  'test/e2e/database-outages.full.test.ts',
  'test/operations/chaos.full.test.ts',
  'test/upgrade/upgrade.full.test.ts',
];

export default defineConfig({
  test: {
    // Forks: Temporal's native bridge crashes alone and exits cleanly. What files import is loaded once per process.
    pool: 'forks',
    isolate: false,
    // Most tests wait for servers, programs and clocks most of the time.
    maxWorkers: availableParallelism() + 2,
    globalSetup: 'test/setup/global-setup.ts',
    setupFiles: [
      'test/setup/no-group-signals.ts',
      'test/setup/file-folder.ts',
      'test/setup/wait-timeouts.ts',
      'test/setup/workflows-in-process.ts',
    ],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    reporters: ['default', new UnfinishedTests()],
    // A line per file, not one per test that takes longer than usual: a log that is read to its end.
    slowTestThreshold: Number.MAX_SAFE_INTEGER,
    // Goes on as soon as it holds; a busy machine takes longer than the usual second. Half of a test's time.
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'daily',
          include: ['{test,packages/*/test}/**/*.test.ts'],
          exclude: [full, release],
          provide: { suite: 'daily' },
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: [full, both],
          provide: { suite: 'full' },
          // Processes, browsers and long sequences, on a machine that is busy with them.
          testTimeout: 120_000,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: [release, ...longer],
          provide: { suite: 'release' },
          testTimeout: 900_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
