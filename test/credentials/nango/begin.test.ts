/** The way to Nango: what the session that a browser gets may do, and what Nango learns of us. */
import { expect, test } from 'vitest';
import { comeBack, decide, goToProvider } from '../../servers/nango/walk.ts';
import { alice, bob, setUpNangoStore, failureOf } from './nango-store.ts';

test('a browser gets a session of one integration that is good for half an hour, and a page that leads there', async () => {
  const { begin, nango } = await setUpNangoStore();
  const attempt = await begin();
  expect(attempt).toMatchObject({ host: nango.host, websocketsPath: '/', integration: 'tracker' });
  expect(attempt.expiresAt - Date.now()).toBeGreaterThan(29 * 60_000);
  const elsewhere = attempt.pageUrl.replace('/oauth/connect/tracker', '/oauth/connect/notes');
  expect((await fetch(elsewhere, { redirect: 'manual' })).status).toBe(400);
  const there = await fetch(attempt.pageUrl, { redirect: 'manual' });
  expect(there.headers.get('location')).toContain(nango.provider.origin);
});

test('what Nango keeps with a connection names nobody: an installation and an attempt', async () => {
  const { begin, visit, nango } = await setUpNangoStore();
  const attempt = await begin();
  await visit(attempt);
  const [connection] = nango.connections();
  expect(connection?.tags).toEqual({
    interlude_installation: expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
    interlude_attempt: attempt.id,
  });
});

test('scopes and parameters of the configuration are pinned: the browser cannot ask for others', async () => {
  const { begin, server, nango } = await setUpNangoStore();
  server.nango = { integration: 'tracker', scopes: ['issues:read'], params: { prompt: 'consent' } };
  const { pageUrl } = await begin();
  const wanted = new URL(pageUrl);
  wanted.searchParams.set('params[oauth_scopes_override]', 'issues:admin');
  wanted.searchParams.set('params[mcp_server_url]', 'https://elsewhere.example/mcp');
  wanted.searchParams.set('authorization_params[prompt]', 'none');
  const there = await goToProvider(wanted.href);
  const asked = new URL(there.url).searchParams;
  expect(asked.get('scope')?.split(/[ ,]/)).toEqual(['issues:read']);
  expect(asked.get('prompt')).toBe('consent');
  await comeBack(await decide(there), there);
  expect(nango.connections()[0]?.connectionConfig).toMatchObject({ mcp_server_url: server.url });
});

test('without scopes of ours, those of the integration are asked for', async () => {
  const { begin } = await setUpNangoStore();
  const { pageUrl } = await begin();
  const { searchParams } = new URL(
    (await fetch(pageUrl, { redirect: 'manual' })).headers.get('location') ?? '',
  );
  expect(searchParams.get('scope')?.split(/[ ,]/)).toEqual(['issues:read', 'issues:write']);
});

test('missing scopes are asked for together with those that are held already', async () => {
  const { begin, connect } = await setUpNangoStore();
  await connect();
  const { pageUrl } = await begin({ elicitationId: 'q2', scopes: ['issues:admin'] });
  const { searchParams } = new URL(
    (await fetch(pageUrl, { redirect: 'manual' })).headers.get('location') ?? '',
  );
  expect(searchParams.get('scope')?.split(/[ ,]/)).toEqual(['issues:read', 'issues:write', 'issues:admin']);
});

test('the attempt of a question is taken up again by whoever opens its page again', async () => {
  const { begin } = await setUpNangoStore();
  const first = await begin();
  const again = await begin();
  expect(again.id).toBe(first.id);
  expect(again.token).not.toBe(first.token);
  expect((await begin({ elicitationId: 'q2' })).id).not.toBe(first.id);
  expect((await begin({ elicitationId: null })).id).not.toBe(first.id);
  expect((await begin({ key: bob })).id).not.toBe(first.id);
});

test('an attempt that has brought an account, or is old, is not taken up again', async () => {
  const { begin, connect, later } = await setUpNangoStore();
  const { attempt } = await connect({ elicitationId: null });
  const next = await begin({ elicitationId: null });
  expect(next.id).not.toBe(attempt.id);
  later(13 * 3_600_000);
  expect((await begin({ elicitationId: null })).id).not.toBe(next.id);
});

test('connecting again keeps the connection, and its tags name the new attempt', async () => {
  const { begin, connect, visit, nango } = await setUpNangoStore();
  const first = await connect();
  const again = await begin({ elicitationId: 'q2' });
  expect(nango.count('POST', '/connect/sessions/reconnect')).toBe(1);
  expect(await visit(again)).toBe(first.connectionId);
  expect(nango.connections()).toHaveLength(1);
  expect(nango.connections()[0]?.tags).toMatchObject({ interlude_attempt: again.id });
});

test('where the connection is gone, connecting again makes a new one', async () => {
  const { connect, row, nango } = await setUpNangoStore();
  const first = await connect();
  nango.connections().splice(0);
  const again = await connect({ elicitationId: 'q2' });
  expect(again.connectionId).not.toBe(first.connectionId);
  expect(again).toMatchObject({ version: 2, isNew: true });
  expect(await row()).toMatchObject({ version: 2, status: 'active' });
});

test('a connection of another integration is not connected again', async () => {
  const { begin, connect, server, nango } = await setUpNangoStore();
  await connect();
  server.nango = { integration: nango.otherIntegration };
  expect((await begin({ elicitationId: 'q2' })).integration).toBe('notes');
  expect(nango.count('POST', '/connect/sessions/reconnect')).toBe(0);
});

test('nothing is remembered of somebody whom Nango did not let in', async () => {
  const { begin, storage, nango } = await setUpNangoStore();
  nango.rateLimit(7);
  const { retryAfterMs, message } = await failureOf(begin());
  expect(retryAfterMs).toBe(7_000);
  expect(message).toContain('Tracker');
  expect(await storage.connectAttempts.openOf(alice)).toEqual([]);
});

test('an integration that Nango does not know is said to be a matter of settings, and logged for operators', async () => {
  const { begin, server, lines } = await setUpNangoStore();
  server.nango = { integration: 'nowhere' };
  const failure = await failureOf(begin());
  expect(failure.retryAfterMs).toBeUndefined();
  expect(failure.message).toContain('operator');
  expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ level: 50, integration: 'nowhere', code: 'invalid_body', status: 400 }),
  );
});
