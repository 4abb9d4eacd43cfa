/** A process that cannot start says why and what to do. What is wrong is tried with one command each; see the full suite. */
import { expect, test } from 'vitest';
import { someKeys } from './deployment.ts';
import { allBesideDemo, lastWords, subject, takenPort, testFailedStarts } from './failed-starts.ts';
import { readiness } from './processes.ts';

testFailedStarts({
  withTakenPort: ['start'],
  withoutTemporal: [],
  withOtherKey: ['server'],
  besideDemo: allBesideDemo.slice(0, 1),
});

test('everything wrong with the configuration is said at once, each with its name', async () => {
  const words = await lastWords('start', {
    PORT: 'http',
    DATABASE_URL: 'mysql://somewhere',
    ELICITATION_TIMEOUT: 'ten minutes',
    TRACKER_URL: '',
    AUTH_CLIENT_ID: '',
    TEMPORAL_ADDRESS: 'temporal',
    AUTH_ISSUER: 'http://127.0.0.1:4',
  });
  for (const name of ['PORT', 'DATABASE_URL', 'ELICITATION_TIMEOUT', 'TEMPORAL_ADDRESS', 'AUTH_CLIENT_ID'])
    expect(words).toContain(`• ${name}: `);
  expect(words).toMatch(/• .*\.yaml:\d+, servers\.\w+\.url: the variable TRACKER_URL is not set/);
  expect(words).toContain('• AUTH_ISSUER: http://127.0.0.1:4 cannot be reached: nothing is listening there');
  expect(words).toMatch(/^The configuration has \d+ problems:$/m);
});

test('a worker whose Temporal does not answer waits, and names the variable', async () => {
  const worker = subject.deployment.spawn('worker', { TEMPORAL_ADDRESS: '127.0.0.1:4' });
  await expect
    .poll(() => worker.output(), { timeout: 30_000 })
    .toContain('not started yet, and waiting: Temporal does not answer; check TEMPORAL_ADDRESS');
  expect(await worker.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('a process whose database does not answer waits, and names it without its password', async () => {
  const port = await takenPort();
  const api = subject.deployment.spawn('server', {
    DATABASE_URL: `postgres://somebody:hunter2@127.0.0.1:4/interlude`,
    TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
    INTERLUDE_KEYS: someKeys,
  });
  await expect
    .poll(() => api.output(), { timeout: 30_000 })
    .toContain(
      'not started yet, and waiting: the database does not answer (ECONNREFUSED); check DATABASE_URL',
    );
  expect(api.output()).toContain('Cannot open the database 127.0.0.1:4/interlude');
  expect(api.output()).not.toContain('hunter2');
  expect(await api.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('an API without Temporal starts, is ready, and says what it does without', async () => {
  const service = subject.deployment.spawn('server', { TEMPORAL_ADDRESS: '127.0.0.1:4' });
  await expect.poll(() => readiness(subject.deployment.baseUrl), { timeout: 20_000 }).toBe(200);
  const response = await fetch(`${subject.deployment.baseUrl}/readyz`);
  expect(await response.json()).toEqual({
    status: 'ready',
    warnings: [
      {
        name: 'temporal',
        detail: expect.stringMatching(/^Temporal does not answer.*; check TEMPORAL_ADDRESS$/),
      },
    ],
  });
  expect((await fetch(`${subject.deployment.baseUrl}/healthz`)).status).toBe(200);
  await service.kill('SIGTERM');
});
