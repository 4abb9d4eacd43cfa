/** The double's webhooks, verified with Nango's own client: a test for each behaviour that was measured. */
import { Nango } from '@nangohq/node';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { serve } from '../serve.ts';
import { startNangoDouble } from './nango-double.ts';
import type { NangoDouble } from './nango-double.ts';
import { connectPage, walkThrough } from './walk.ts';

interface Received {
  body: string;
  headers: Record<string, string>;
  at: number;
}

let double: NangoDouble;
let nango: Nango;
let received: Received[];
let statuses: number[];
let url: string;

beforeEach(async () => {
  double = await startNangoDouble();
  double.webhookRetryMs = [20, 40];
  nango = new Nango({
    host: double.host,
    apiKey: double.apiKey,
    webhookSigningKey: double.webhookSigningKey,
  });
  received = [];
  statuses = [];
  const receiver = await serve(({ request, response, body }) => {
    received.push({ body, headers: request.headers as Record<string, string>, at: performance.now() });
    response.writeHead(statuses.shift() ?? 200).end();
  });
  onTestFinished(receiver.stop);
  url = `${receiver.origin}/webhooks`;
  double.webhookUrl = url;
});

async function session(): Promise<string> {
  const { data } = await nango.createConnectSession({ tags: { attempt: 'one' } });
  return connectPage(double.host, 'tracker', data.token);
}

const payloads = () => received.map(({ body }) => JSON.parse(body) as Record<string, unknown>);

test('a new connection is told with its tags, signed in a way that the client accepts', async () => {
  await walkThrough(await session());
  await double.delivered(1);
  const [{ body, headers } = { body: '', headers: {} }] = received;
  expect(nango.verifyIncomingWebhookRequest(body, headers)).toBe(true);
  expect(nango.verifyIncomingWebhookRequest(`${body} `, headers)).toBe(false);
  const [payload = {}] = payloads();
  expect(payload).toEqual({
    from: 'nango',
    type: 'auth',
    operation: 'creation',
    success: true,
    connectionId: double.connections()[0]?.connectionId,
    providerConfigKey: 'tracker',
    provider: 'acme',
    authMode: 'OAUTH2',
    environment: 'dev',
    tags: { attempt: 'one' },
  });
  expect(Object.keys(payload)).toEqual(Object.keys(payload).toSorted());
});

test('the legacy signature comes along, and the API key signs nothing', async () => {
  await walkThrough(await session());
  await double.delivered(1);
  const [{ body, headers } = { body: '', headers: {} }] = received;
  expect(headers).toHaveProperty('x-nango-signature');
  const other = new Nango({ host: double.host, apiKey: double.apiKey });
  expect(other.verifyIncomingWebhookRequest(body, headers)).toBe(false);
});

test('an account is there to be read before anybody is told', async () => {
  double.webhook = { delayMs: 200 };
  await walkThrough(await session());
  const { connections } = await nango.listConnections({ tags: { attempt: 'one' } });
  expect(connections).toHaveLength(1);
  expect(received).toEqual([]);
  await double.delivered(1);
  expect(received).toHaveLength(1);
});

test('whoever denies leaves a webhook of nobody about a connection that never was', async () => {
  await walkThrough(await session(), 'nobody');
  await double.delivered(1);
  const [payload = {}] = payloads();
  expect(payload).toMatchObject({ operation: 'creation', success: false, error: { type: 'callback_err' } });
  expect(payload).not.toHaveProperty('tags');
  expect(double.connections()).toEqual([]);
});

test('reconnecting is told as an override even where creations are not', async () => {
  double.onAuthCreation = false;
  await walkThrough(await session());
  const { connectionId = '' } = double.connections()[0] ?? {};
  const { data } = await nango.createReconnectSession({
    connection_id: connectionId,
    integration_id: 'tracker',
    tags: { attempt: 'two' },
  });
  await walkThrough(connectPage(double.host, 'tracker', data.token));
  await double.delivered(1);
  expect(payloads()).toMatchObject([{ operation: 'override', connectionId, tags: { attempt: 'two' } }]);
});

test('a refused refresh is told once until the cool-down is over, and at every forced try', async () => {
  await walkThrough(await session());
  const { connectionId = '' } = double.connections()[0] ?? {};
  double.failRefresh('invalid_grant');
  const read = (isForced: boolean) =>
    nango.getConnection('tracker', connectionId, isForced).catch(() => undefined);
  await read(true);
  await read(false);
  await read(true);
  await double.delivered(3);
  expect(payloads().slice(1)).toMatchObject([
    { operation: 'refresh', success: false, tags: { attempt: 'one' } },
    { operation: 'refresh', success: false },
  ]);
});

test('an account that is deleted is not announced', async () => {
  await walkThrough(await session());
  await double.delivered(1);
  const { connectionId = '' } = double.connections()[0] ?? {};
  await nango.deleteConnection('tracker', connectionId);
  expect(payloads()).toMatchObject([{ operation: 'creation', connectionId, tags: { attempt: 'one' } }]);
});

test.each([
  ['after an answer of 500, with the very same bytes', [500, 502], 3],
  ['never after a redirect', [302], 1],
  ['never after a refusal', [401], 1],
  ['no more than twice', [500, 500, 500], 3],
])('a webhook is tried again %s', async (_, answers, tries) => {
  statuses = [...answers];
  await walkThrough(await session());
  await double.delivered(1);
  expect(received).toHaveLength(tries);
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
});

test.each([
  ['never', 0],
  ['twice', 2],
  ['normal', 1],
  ['failFirst', 1],
] as const)('webhooks can be had: %s', async (mode, howOften) => {
  double.webhook = mode;
  await walkThrough(await session());
  await double.delivered(mode === 'never' ? 0 : mode === 'twice' ? 2 : 1);
  expect(received).toHaveLength(howOften);
});

test('whoever overheard a webhook can send it again; nobody can make one up', async () => {
  await walkThrough(await session());
  await double.delivered(1);
  expect(await double.replay()).toBe(200);
  const [first, second] = received;
  expect(second?.body).toBe(first?.body);
  expect(nango.verifyIncomingWebhookRequest(second?.body ?? '', second?.headers ?? {})).toBe(true);
  for (const how of ['wrong-key', 'legacy-only', 'unsigned'] as const) {
    await double.forge(url, { from: 'nango', type: 'auth' }, how);
    const { body = '', headers = {} } = received.at(-1) ?? {};
    expect(nango.verifyIncomingWebhookRequest(body, headers), how).toBe(false);
  }
});

test('right after installation nobody is told anything', async () => {
  double.webhookUrl = undefined;
  await walkThrough(await session());
  expect(double.deliveries).toEqual([]);
});
