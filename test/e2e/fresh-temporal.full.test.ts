/** An unprepared Temporal: what is missing is reported at start and at /readyz, and what can be made is made. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;

beforeAll(async () => {
  const port = await freePort();
  deployment = await createDeployment({
    env: { TEMPORAL_ADDRESS: `127.0.0.1:${port}`, INTERLUDE_KEYS: someKeys },
  });
  await deployment.startTemporal(port);
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function lacks(): Promise<Record<string, string>> {
  const response = await fetch(`${deployment.baseUrl}/readyz`);
  const { warnings } = (await response.json()) as { warnings: { name: string; detail: string }[] };
  return Object.fromEntries(warnings.map(({ name, detail }) => [name, detail]));
}

async function saysHello() {
  const caller = await deployment.caller('alice');
  return caller.request('POST', '/run/api/chat', {
    id: randomUUID(),
    messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
    stream: false,
  });
}

test('without its namespace the worker ends and the API warns of it, both with the remedy', async () => {
  const missing = { TEMPORAL_NAMESPACE: 'elsewhere' };
  const words = /Temporal has no namespace "elsewhere"; create it \(temporal operator namespace create/;
  const worker = deployment.spawn('worker', missing);
  expect(await worker.ended).toEqual({ code: 1, signal: null });
  expect(worker.output()).toMatch(words);

  const api = deployment.spawn('server', missing);
  await vi.waitFor(() => expect(api.output()).toMatch(/is ready, but: Temporal has no namespace/));
  expect((await lacks())['temporal']).toMatch(words);
  expect(await saysHello()).toMatchObject({
    status: 503,
    body: { code: 'unavailable', detail: expect.stringContaining('The operator reads at /readyz') },
  });
  await api.kill('SIGTERM');
});

test('an API that is the first to come lacks nothing but a worker, and takes turns once the first has started', async () => {
  const api = deployment.spawn('server');
  await vi.waitFor(() => expect(api.output()).toMatch(/is ready, but: no worker polls task queue/));
  expect(Object.keys(await lacks())).toEqual(['workers']);
  expect(await saysHello()).toMatchObject({
    status: 503,
    body: { code: 'unavailable', detail: expect.stringContaining('No worker of this deployment') },
  });
  const worker = await deployment.start('worker');
  await expect.poll(saysHello).toMatchObject({ status: 200 });
  await vi.waitFor(() => expect(api.output()).toMatch(/API on \S+ is ready"/));
  await Promise.all([api.kill('SIGTERM'), worker.kill('SIGTERM')]);
});
