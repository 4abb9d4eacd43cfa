/**
 * A client's own call of a tool in TypeScript, approved by its user: the only worker is killed with -9 while the question is open,
 * in each way of asking. The tool runs once, and the client has its result.
 */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { ElicitResult } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import { freePort } from '../free-port.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';

let deployment: Deployment;
let worker: ServiceProcess;
const booked: string[] = [];

beforeAll(async () => {
  const hotel = createServer((request, response) => {
    booked.push(request.url?.slice(1) ?? '');
    response.end('done');
  });
  const hotelPort = await freePort();
  hotel.listen(hotelPort, '127.0.0.1');
  const port = await freePort();
  deployment = await createDeployment({
    env: {
      INTERLUDE_CONFIG: fileURLToPath(new URL('../fixtures/killed-agents.yaml', import.meta.url)),
      ASKING_URL: 'http://127.0.0.1:9/mcp',
      APPROVAL: 'always',
      HOTEL_URL: `http://127.0.0.1:${hotelPort}`,
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      INTERLUDE_KEYS: someKeys,
    },
  });
  deployment.defer(() => hotel.close());
  await deployment.startTemporal(port);
  [worker] = await Promise.all([deployment.start('worker'), deployment.start('server')]);
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function anotherWorker(): Promise<void> {
  await worker.kill('SIGKILL');
  worker = await deployment.start('worker');
}

async function connect(isModern: boolean, answer?: () => Promise<ElicitResult>) {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: answer ? { elicitation: { form: {}, url: {} } } : {},
      ...(isModern && { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
    },
  );
  if (answer) client.setRequestHandler('elicitation/create', answer);
  const token = await demoToken(deployment.environment['AUTH_ISSUER'] ?? '', 'alice');
  const headers = { authorization: `Bearer ${token}` };
  const url = new URL('/run/v1/mcp', deployment.baseUrl);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  deployment.defer(() => client.close());
  return client;
}

/** As the person does on the page to which the client was given the link. */
async function approveOpenQuestion(): Promise<void> {
  const token = await demoToken(deployment.environment['AUTH_ISSUER'] ?? '', 'alice');
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const open = await fetch(new URL('/run/v1/elicitations', deployment.baseUrl), { headers });
  const { items } = (await open.json()) as { items: { conversationId: string; elicitationId: string }[] };
  const [{ conversationId, elicitationId } = { conversationId: '', elicitationId: '' }] = items;
  const answered = await fetch(new URL('/run/api/elicitation-responses', deployment.baseUrl), {
    method: 'POST',
    headers,
    body: JSON.stringify({ conversationId, elicitationId, action: 'accept' }),
  });
  expect(answered.status).toBe(200);
}

test.each([
  ['input required', true, 'Rome'],
  ['pushed', false, 'Bern'],
])('%s: approved after the worker died', async (_, isModern, city) => {
  const client = await connect(isModern, async () => {
    await anotherWorker();
    await approveOpenQuestion();
    return { action: 'accept' };
  });
  const result = await client.callTool({ name: 'book', arguments: { city } }, { timeout: 50_000 });
  expect(result.content).toEqual([{ type: 'text', text: 'done' }]);
  expect(booked.filter((booking) => booking === city)).toHaveLength(1);
});

test('in words: the model may not approve, and the refusal reaches the tool after the worker died', async () => {
  const client = await connect(true);
  const asked = await client.callTool({ name: 'book', arguments: { city: 'Oslo' } });
  const { elicitId } = (asked._meta ?? {})['elicitationPending'] as { elicitId: string };
  await anotherWorker();
  const answer = (action: string) =>
    client.callTool({ name: 'sendElicitationResult', arguments: { elicitId, action } });
  expect((await answer('accept'))._meta).toHaveProperty('elicitationPending');
  expect(await answer('decline')).toMatchObject({ isError: true });
  expect(booked).not.toContain('Oslo');
});
