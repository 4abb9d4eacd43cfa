/**
 * What holds of any Nango, the double or a real one (see docs/nango.md): what was measured of the real one and needs no
 * knob. Every test marks what it makes, and takes it away again.
 */
import { randomUUID } from 'node:crypto';
import { Nango } from '@nangohq/node';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { startFrontendPage } from './frontend-page.ts';
import { nangoUnderTest, refusalOf as refusal } from './nango-under-test.ts';
import type { NangoUnderTest } from './nango-under-test.ts';
import { comeBack, connectPage, decide, goToProvider, walkThrough } from './walk.ts';

let under: NangoUnderTest;
let nango: Nango;
let integration: string;
let mark: string;

beforeEach(async () => {
  under = await nangoUnderTest();
  ({ integration } = under);
  nango = new Nango({ host: under.host, apiKey: under.apiKey });
  mark = randomUUID();
});
afterEach(async () => {
  for (const { connection_id: id } of await made()) await nango.deleteConnection(integration, id);
});

async function session(tags: Record<string, string> = {}): Promise<string> {
  const { data } = await nango.createConnectSession({
    tags: { mark, ...tags },
    allowed_integrations: [integration],
  });
  return data.token;
}

const pageOf = (token: string) => connectPage(under.host, integration, token);

/** Newest first. */
async function made(tags: Record<string, string> = {}) {
  return (await nango.listConnections({ tags: { mark, ...tags } })).connections;
}

async function connect(tags: Record<string, string> = {}): Promise<string> {
  await walkThrough(pageOf(await session(tags)));
  const [newest] = await made();
  if (!newest) throw new Error('nothing is connected');
  return newest.connection_id;
}

test('a session is a token of a known shape that lasts for half an hour', async () => {
  const { data } = await nango.createConnectSession({ tags: { mark } });
  expect(data.token).toMatch(/^nango_connect_session_[0-9a-f]{64}$/);
  const left = Date.parse(data.expires_at) - Date.now();
  expect(left).toBeGreaterThan(29 * 60_000);
  expect(left).toBeLessThanOrEqual(30.1 * 60_000);
});

test.each([
  ['unknown members', { tags: { a: 'b' }, colour: 'blue' }],
  ['keys that begin with a digit', { tags: { '1a': 'b' } }],
  ['keys that are too long', { tags: { ['k'.repeat(65)]: 'b' } }],
  ['empty values', { tags: { a: '' } }],
  ['values that are too long', { tags: { a: 'v'.repeat(256) } }],
  ['more than ten tags', { tags: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`k${n}`, 'v'])) }],
  ['email addresses that are none', { tags: { end_user_email: 'nobody' } }],
  ['no tags', {}],
  ['integrations that nobody made', { tags: { a: 'b' }, allowed_integrations: ['nowhere'] }],
])('a session with %s is refused', async (_, body) => {
  expect(await refusal(nango.createConnectSession(body as never))).toMatchObject({
    status: 400,
    error: { code: 'invalid_body' },
  });
});

test('tag keys are kept in lower case, and a list has all that carry every tag that was asked for, newest first', async () => {
  const first = await connect({ Attempt: 'One', tenant: 'demo' });
  const second = await connect({ attempt: 'One', tenant: 'demo', user: 'alice' });
  await connect({ attempt: 'one', tenant: 'demo' });
  const connections = await made({ attempt: 'One', tenant: 'demo' });
  expect(connections.map((one) => one.connection_id)).toEqual([second, first]);
  expect(connections[1]?.tags).toEqual({ mark, attempt: 'One', tenant: 'demo' });
  expect(JSON.stringify(connections)).not.toContain('acme-');
  const limited = await nango.listConnections({ tags: { mark }, limit: 1 });
  expect(limited.connections).toHaveLength(1);
});

test.each([
  ['in no known shape', 'short', 'invalid_secret_key_format'],
  ['of somebody else', '00000000-0000-4000-8000-000000000000', 'unknown_account'],
])('a key %s is refused', async (_, apiKey, code) => {
  const stranger = new Nango({ host: under.host, apiKey });
  expect(await refusal(stranger.listConnections({}))).toMatchObject({ status: 401, error: { code } });
});

test('what is not there is told apart from what was never configured', async () => {
  const connectionId = await connect();
  const missing = await refusal(nango.getConnection(integration, '00000000-0000-4000-8000-000000000000'));
  expect(missing).toMatchObject({ status: 404, error: { code: 'not_found' } });
  const unknown = await refusal(nango.getConnection('nowhere', connectionId));
  expect(unknown).toMatchObject({ status: 400, error: { code: 'unknown_provider_config' } });
});

test('a connection is deleted once; the second time it is not known', async () => {
  const connectionId = await connect();
  await nango.deleteConnection(integration, connectionId);
  const again = await refusal(nango.deleteConnection(integration, connectionId));
  expect(again).toMatchObject({ status: 400, error: { code: 'unknown_connection' } });
});

test.each(['invalid_grant', 'outage'] as const)(
  'a refused refresh (%s) looks the same, and makes everybody wait although the token is good',
  async (how) => {
    const connectionId = await connect();
    const { credentials } = await nango.getConnection(integration, connectionId);
    under.provider.refuseRefresh = how;
    const refused = await refusal(nango.getConnection(integration, connectionId, true));
    expect(refused).toMatchObject({
      status: 400,
      error: { code: 'invalid_credentials', payload: { connection: { errors: [{ type: 'auth' }] } } },
    });
    expect(JSON.stringify(refused.error)).not.toContain('acme-');
    under.provider.refuseRefresh = null;
    const cooling = await refusal(nango.getConnection(integration, connectionId));
    expect(cooling).toMatchObject({ status: 424, error: { code: 'invalid_credentials' } });
    const { access_token: accessToken } = credentials as { access_token: string };
    expect(under.provider.holder(accessToken)).toMatchObject({ person: 'alice' });
  },
);

test('reconnecting keeps the id, and loses the tags that are not given again', async () => {
  const connectionId = await connect({ attempt: 'one' });
  const read = () => nango.getConnection(integration, connectionId);
  const again = { connection_id: connectionId, integration_id: integration };
  const kept = await nango.createReconnectSession({ ...again, tags: { mark, attempt: 'two' } });
  await walkThrough(pageOf(kept.data.token), 'bob');
  expect(await made()).toHaveLength(1);
  expect((await read()).tags).toEqual({ mark, attempt: 'two' });
  const wiped = await nango.createReconnectSession(again);
  await walkThrough(pageOf(wiped.data.token));
  expect(await read()).toMatchObject({ tags: {}, webhook_url_override: null });
  await nango.deleteConnection(integration, connectionId);
  expect(await refusal(nango.createReconnectSession(again))).toMatchObject({ status: 400 });
});

test('a token may be used again: whoever goes three times has three connections', async () => {
  const page = pageOf(await session());
  await walkThrough(page);
  await walkThrough(page, 'nobody');
  await walkThrough(page);
  await walkThrough(page, 'bob');
  expect(await made()).toHaveLength(3);
});

test('a callback works in another browser, unless Nango was told to look', async () => {
  await comeBack(await decide(await goToProvider(pageOf(await session())), 'bob'), { cookie: '' });
  expect(await made()).toHaveLength(1);
});

test('the library connects an account in a window, is told which, and is told when somebody denies', async () => {
  const browser = await launchChromium({ isStrict: true });
  onTestFinished(() => browser.close());
  const pages = await startFrontendPage();
  const page = await browser.newPage();
  await page.goto(pages.url({ host: under.host, token: await session(), integration }));
  await page.locator('html[data-ready]').waitFor();
  const open = async () => {
    const popup = page.waitForEvent('popup');
    await page.getByRole('button', { name: 'Connect' }).click();
    return popup;
  };
  const denied = await open();
  await denied.getByRole('button', { name: 'Deny' }).click();
  await page.locator('output', { hasText: 'callback_err' }).waitFor();
  expect(await made()).toEqual([]);

  const popup = await open();
  const closed = popup.waitForEvent('close');
  await popup.getByLabel('Bob').check();
  await popup.getByRole('button', { name: 'Allow' }).click();
  await page.locator('output', { hasText: 'connected' }).waitFor();
  const [connection] = await made();
  expect(await page.innerText('output')).toBe(`connected ${connection?.connection_id}`);
  await closed;
  const token = await nango.getToken(integration, connection?.connection_id ?? '');
  expect(under.provider.holder(token as string)?.person).toBe('bob');
});
