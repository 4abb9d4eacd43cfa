/** A process that cannot start says why and what to do, in one message, and ends with 1. Each costs the start of a process. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import { proveKeys } from '../../src/credentials/sealing/key-proofs.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { readiness } from './processes.ts';
import type { Entry } from './processes.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

type Beside = [named: string, env: Record<string, string>];

/** What is configured while the demo's identity provider is, as the message names it. */
const besideDemo: Beside[] = [
  ['HOST=0.0.0.0', { HOST: '0.0.0.0' }],
  ['PUBLIC_URL=https://agents.example', { PUBLIC_URL: 'https://agents.example' }],
  ['a PostgreSQL database (DATABASE_URL)', { DATABASE_URL: 'postgres://127.0.0.1:4/interlude' }],
  ['a Temporal of your own (TEMPORAL_ADDRESS)', { TEMPORAL_ADDRESS: '127.0.0.1:4' }],
];

const isDaily = inject('suite') === 'daily';
/** What is wrong is tried with one command each daily, and with the others in the full suite. */
const commands: Record<'withTakenPort' | 'withoutTemporal' | 'withOtherKey', Entry[]> = isDaily
  ? { withTakenPort: ['start'], withoutTemporal: [], withOtherKey: ['server'] }
  : { withTakenPort: ['server'], withoutTemporal: ['start'], withOtherKey: ['start', 'worker'] };

let deployment: Deployment;

async function lastWords(entry: Entry, env: Record<string, string>): Promise<string> {
  const service = deployment.spawn(entry, env);
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.output()).not.toMatch(/^ +at /m);
  return service.output();
}

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

beforeAll(async () => {
  deployment = await createDeployment({ env: { INTERLUDE_KEYS: someKeys } });
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

test.each(commands.withTakenPort)('%s: a port that is taken is named with its variable', async (entry) => {
  const port = await takenPort();
  const words = await lastWords(entry, {
    PORT: String(port),
    ...(entry === 'server' && { TEMPORAL_ADDRESS: '127.0.0.1:4' }),
  });
  expect(words).toContain(`A port is taken:\n  • ${port} (PORT)\n`);
  expect(words).toContain('set PORT to a free port');
});

test.each(commands.withoutTemporal)(
  '%s: a Temporal that is configured and does not answer is named with its variable',
  async (entry) => {
    const words = await lastWords(entry, { TEMPORAL_ADDRESS: '127.0.0.1:4' });
    expect(words).toMatch(/Temporal .*\. Check TEMPORAL_ADDRESS/);
  },
);

test.each(commands.withOtherKey)(
  '%s: a database whose key is another one is noticed before anything else is done',
  async (entry) => {
    const dataDir = `${deployment.dataDir}/keys-of-${entry}`;
    const database = { kind: 'sqlite', path: `${dataDir}/interlude.db` } as const;
    const storage = await openStorage(database);
    expect(await proveKeys(storage, parseKeys(someKeys))).toBeNull();
    await storage.close();
    const words = await lastWords(entry, {
      INTERLUDE_DATA: dataDir,
      INTERLUDE_KEYS: generateKey('k1'),
      TEMPORAL_ADDRESS: '127.0.0.1:4',
    });
    expect(words).toContain(
      'INTERLUDE_KEYS does not open what this database holds: its key "k1" has another',
    );
    expect(words).not.toContain('ready');
  },
);

test.each(isDaily ? besideDemo.slice(0, 1) : besideDemo.slice(1))(
  'the demo makes nobody alice or bob beside %s',
  async (named, env) => {
    const words = await lastWords('start', { AUTH_ISSUER: '', AUTH_CLIENT_ID: '', ...env });
    expect(words).toContain(`• AUTH_ISSUER: needed beside ${named}; `);
  },
);

describe.runIf(isDaily)('once', () => {
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
    expect(words).toContain(
      '• AUTH_ISSUER: http://127.0.0.1:4 cannot be reached: nothing is listening there',
    );
    expect(words).toMatch(/^The configuration has \d+ problems:$/m);
  });

  test('a worker whose Temporal does not answer waits, and names the variable', async () => {
    const worker = deployment.spawn('worker', { TEMPORAL_ADDRESS: '127.0.0.1:4' });
    await expect
      .poll(() => worker.output())
      .toContain('not started yet, and waiting: Temporal does not answer; check TEMPORAL_ADDRESS');
    expect(await worker.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('a process whose database does not answer waits, and names it without its password', async () => {
    const port = await takenPort();
    const api = deployment.spawn('server', {
      DATABASE_URL: `postgres://somebody:hunter2@127.0.0.1:4/interlude`,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      INTERLUDE_KEYS: someKeys,
    });
    await expect
      .poll(() => api.output())
      .toContain(
        'not started yet, and waiting: the database does not answer (ECONNREFUSED); check DATABASE_URL',
      );
    expect(api.output()).toContain('Cannot open the database 127.0.0.1:4/interlude');
    expect(api.output()).not.toContain('hunter2');
    expect(await api.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('an API without Temporal starts, is ready, and says what it does without', async () => {
    const service = deployment.spawn('server', { TEMPORAL_ADDRESS: '127.0.0.1:4' });
    await expect.poll(() => readiness(deployment.baseUrl)).toBe(200);
    const response = await fetch(`${deployment.baseUrl}/readyz`);
    expect(await response.json()).toEqual({
      status: 'ready',
      warnings: [
        {
          name: 'temporal',
          detail: expect.stringMatching(/^Temporal does not answer.*; check TEMPORAL_ADDRESS$/),
        },
      ],
    });
    expect((await fetch(`${deployment.baseUrl}/healthz`)).status).toBe(200);
    await service.kill('SIGTERM');
  });
});
