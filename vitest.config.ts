import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Forks: Temporal's native bridge crashes alone and exits cleanly.
    pool: 'forks',
    // Most of them wait for servers and clocks most of the time.
    maxWorkers: availableParallelism() + 1,
    globalSetup: 'test/setup/global-setup.ts',
    // Browsers, processes and clocks on a machine that may be busy: what fails twice is broken. Retries are reported.
    retry: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Goes on as soon as it holds; a busy machine takes longer than the usual second.
    expect: { poll: { timeout: 10_000 } },
  },
});
