import { expect, test } from 'vitest';
import {
  clientDocumentUrl,
  issuerTag,
  redirectUri,
} from '../../../src/credentials/mcp-oauth/client-metadata.ts';
import { startGuardedServer } from '../../credentials/guarded-server.ts';
import { onward, words } from './browser.ts';
import { setUpPages } from './pages-setup.ts';
import { endQuestion } from '../../storage/end-question.ts';

const connection = { tenant: 'demo', server: 'tracker', user: 'alice' };

test('saying no at the provider leaves the question open, to try again or not', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  tracker.authorization.person.agrees = 'to nothing';
  const denied = await browser.open(onward(await browser.press(page, { action: 'connect' })));
  expect(denied.status).toBe(200);
  expect(words(denied)).toContain('Tracker is not connected');
  expect(words(denied)).toMatch(/Try again Not now/);
  expect(await setup.storage.elicitations.get('q1')).toMatchObject({ status: 'pending' });
  expect(setup.confirmed).toEqual([]);

  tracker.authorization.person.agrees = 'to all';
  const done = await browser.open(onward(await browser.press(denied, { action: 'connect' })));
  expect(words(done)).toContain('Tracker is connected');
});

test('a callback in another browser is refused and audited, and the right browser can still finish', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await setup.ask();
  const victim = await setup.openAs('bob');
  const { browser, page } = await setup.openAs('alice');
  const leaving = await browser.press(page, { action: 'connect' });
  const callback = await browser.until(onward(leaving), `${setup.publicUrl}/auth/callback`);

  const foreign = await victim.browser.open(callback.url);
  expect(foreign.status).toBe(400);
  expect(words(foreign)).toContain('Connecting was begun in another browser');
  const otherWindow = await setup.openAs('alice');
  expect((await otherWindow.browser.open(callback.url)).status).toBe(400);
  expect(await setup.storage.connections.get(connection)).toBeNull();
  expect(await setup.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'refused', actor: 'bob' },
    { action: 'refused', actor: 'alice' },
  ]);

  expect(words(await browser.open(callback.url))).toContain('Tracker is connected');
  expect((await browser.open(callback.url)).status).toBe(400);
});

test('connecting after the question expired says so, and whoever else waits for the account is told at once', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const leaving = await browser.press(page, { action: 'connect' });
  await endQuestion(setup.storage, 'q1', 'expired');
  const done = await browser.open(onward(leaving));
  expect(done.status).toBe(200);
  expect(words(done)).toContain('The question had expired meanwhile');
  expect(await setup.storage.connections.get(connection)).toMatchObject({ status: 'active' });
  expect(setup.confirmed).toEqual([[connection, 1]]);
});

test('a callback without a session is refused', async () => {
  const setup = await setUpPages();
  const response = await fetch(`${setup.publicUrl}/auth/callback/x?state=x&code=y`, { redirect: 'manual' });
  expect(response.status).toBe(400);
});

test('a provider that fails is named, and trying again is offered', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  tracker.authorization.refuse.tokens = 'broken';
  const failed = await browser.open(onward(await browser.press(page, { action: 'connect' })));
  expect(failed.status).toBe(502);
  expect(words(failed)).toContain('Tracker could not be connected');
  expect(words(failed)).toContain('Try again');
  expect(failed.text + setup.log.join()).not.toContain('leaked-');
});

test('a server that cannot be reached is said to be so when connecting begins', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const failed = await browser.press(page, { action: 'connect' });
  expect(failed.status).toBe(502);
  expect(words(failed)).toContain('Tracker');
  expect(words(failed)).toMatch(/Try again Not now/);
});

test('an authorization address that is no web page is never put on a page', async () => {
  const url = 'javascript:alert(document.domain)';
  const setup = await setUpPages(undefined, {
    stores: {
      oauth: {
        connectedBy: 'sign-in',
        begin: async () => ({ url }),
        complete: async () => ({ kind: 'unknown-state' }),
      },
    },
  });
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const failed = await browser.press(page, { action: 'connect' });
  expect(failed.status).toBe(502);
  expect(failed.text).not.toContain('javascript:');
});

test('the client metadata documents are public, one for each sign-in server', async () => {
  const { publicUrl } = await setUpPages();
  const issuer = 'https://sign-in.example';
  const address = clientDocumentUrl(publicUrl, issuer);
  const response = await fetch(address);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await response.json()).toMatchObject({
    client_id: address,
    redirect_uris: [redirectUri(publicUrl, issuer)],
  });
  for (const name of ['x.json', `${issuerTag(issuer)}.html`, issuerTag(issuer)])
    expect((await fetch(`${publicUrl}/auth/client/${name}`)).status).toBe(404);
});

test('the log says which address an operator has to register, and that is the one people come back to', async () => {
  const tracker = await startGuardedServer();
  const { issuer } = tracker.authorization;
  const setup = await setUpPages({ ...tracker.config, oauth: { issuer } });
  expect(setup.log.map((line) => JSON.parse(line) as object)).toContainEqual(
    expect.objectContaining({ server: 'tracker', issuer, redirectUri: redirectUri(setup.publicUrl, issuer) }),
  );
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const leaving = onward(await browser.press(page, { action: 'connect' }));
  expect(new URL(leaving).searchParams.get('redirect_uri')).toBe(redirectUri(setup.publicUrl, issuer));
});
