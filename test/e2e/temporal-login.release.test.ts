/** Temporal refuses the API key, at start and while turns wait: processes wait, and go on with the key that their file has by now. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';
import { startTemporalGate } from '../servers/temporal-gate.ts';
import type { TemporalGate } from '../servers/temporal-gate.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';
import { questionsIn, say } from './watch.ts';

let deployment: Deployment;
let gate: TemporalGate;
let keyFile: string;
let internal: { api: number; worker: number };
let worker: ServiceProcess;

async function readinessOf(name: 'api' | 'worker'): Promise<[number, unknown]> {
  const response = await fetch(`http://127.0.0.1:${internal[name]}/readyz`);
  return [response.status, await response.json()];
}
const untilIs = (name: 'api' | 'worker', status: number, body: object) =>
  expect.poll(() => readinessOf(name), { timeout: 40_000, interval: 100 }).toMatchObject([status, body]);
const refused = [
  { name: 'temporal', detail: expect.stringContaining('refuses the login (UNAUTHENTICATED)') },
];

beforeAll(async () => {
  const port = await freePort();
  internal = { api: await freePort(), worker: await freePort() };
  deployment = await createDeployment({
    env: {
      DATABASE_URL: await postgresUrl(),
      INTERLUDE_KEYS: someKeys,
      TEMPORAL_TLS: 'false',
      LOG_LEVEL: 'info',
    },
  });
  keyFile = path.join(deployment.dataDir, 'api-key');
  writeFileSync(keyFile, 'wrong');
  await deployment.startTemporal(port);
  gate = await startTemporalGate(`127.0.0.1:${port}`, 'first');
  deployment.defer(() => gate.stop());
  const login = { TEMPORAL_ADDRESS: gate.address, TEMPORAL_API_KEY_FILE: keyFile };
  deployment.spawn('server', { ...login, INTERNAL_PORT: String(internal.api) });
  worker = deployment.spawn('worker', { ...login, INTERNAL_PORT: String(internal.worker) });
}, 60_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

test(
  'at start the worker waits and says why; the API is ready, and warns of it',
  { timeout: 90_000 },
  async () => {
    await untilIs('worker', 503, { notReady: refused });
    await untilIs('api', 200, { status: 'ready', warnings: refused });
    writeFileSync(keyFile, 'first');
    await untilIs('worker', 200, { status: 'ready' });
    await untilIs('api', 200, { warnings: [] });
  },
);

test(
  'while turns wait, for longer than a worker of the SDK bears it: all go on with the new key',
  { timeout: 240_000 },
  async () => {
    const alice = deployment.client('alice');
    const turns = [1, 2, 3].map(() => say(alice, 'list my open issues'));
    const asked = await Promise.all(turns.map((turn) => turn.question()));
    gate.accept('second');
    await untilIs('worker', 503, { notReady: refused });
    // Longer than the SDK's worker bears it.
    await sleep(75_000);
    expect(worker.isAlive()).toBe(true);
    writeFileSync(keyFile, 'second');
    await untilIs('worker', 200, { status: 'ready' });
    for (const [index, { message }] of turns.entries()) {
      const { conversationId } = message;
      const { elicitationId } = asked[index]!;
      const receipt = await alice.answer({ conversationId, elicitationId, action: 'decline' });
      expect(receipt).toMatchObject({ status: 'decline' });
    }
    for (const turn of turns) {
      const view = await turn.end();
      expect(questionsIn(view)).toMatchObject([{ status: 'decline' }]);
      expect(view.status).toBe('completed');
    }
    await untilIs('worker', 200, { status: 'ready' });
  },
);
