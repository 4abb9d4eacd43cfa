/** An account that the whole tenant shares: only operators connect and end it on the pages. */
import { expect, test } from 'vitest';
import { serverConfig, startGuardedServer } from '../../credentials/guarded-server.ts';
import { goodKey, startTracker } from '../../credentials/vault/vault-store.ts';
import { putAccount } from '../connections/accounts.ts';
import { Browser, hiddenFields, onward, words } from './browser.ts';
import { setUpPages } from './pages-setup.ts';

const shared = { tenant: 'demo', server: 'tracker', user: null };
const project = { credentialScope: 'project', contact: 'Dana in Finance' } as const;
const away = 'http://127.0.0.1:9/mcp';

type PagesSetup = Awaited<ReturnType<typeof setUpPages>>;

/** Bob is one by a claim of his token; alice is not. */
const operatorIsBob = { operator: { claim: 'sub', role: 'bob', contentsRole: undefined } };

const setUpWith = (server: Parameters<typeof setUpPages>[0]) =>
  setUpPages(server, {}, [], {}, undefined, operatorIsBob);

async function settings(setup: PagesSetup, user: string) {
  const browser = new Browser();
  const page = await browser.press(await browser.open(`${setup.publicUrl}/connections`), { user });
  return { browser, page };
}

/** Of a page on which there is nothing to do: the form that signs out has one. */
const csrfOf = (page: Parameters<typeof words>[0]) => hiddenFields(page.text)['csrf'] ?? '';

const refusals = async (setup: PagesSetup, elicitationId = '') =>
  (await setup.storage.audit.ofElicitation(elicitationId)).filter(({ action }) => action === 'refused');

test('nobody who is asked gives an account to everybody: the page says whom to ask', async () => {
  const tracker = await startTracker();
  const setup = await setUpWith(tracker.of(project));
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  expect(words(page)).toContain('used with one account for everybody in demo');
  expect(words(page)).toContain('Ask Dana in Finance.');
  const given = await browser.press(page, { action: 'connect', key: goodKey });
  expect(given.status).toBe(403);
  expect(await setup.storage.connections.get(shared)).toBeNull();
  expect(setup.confirmed).toEqual([]);
  expect(await refusals(setup, 'q1')).toMatchObject([
    { actor: 'alice', detail: 'connecting a shared account' },
  ]);
  expect(words(await browser.press(page, { action: 'decline' }))).toContain('Not now, then');
});

test('an operator enters a key for everybody, after the page has said so, and replaces and ends it', async () => {
  const other = 'trk_another_key_of_all_zz99';
  const tracker = await startTracker({ accepted: [`Bearer ${goodKey}`, `Bearer ${other}`] });
  const setup = await setUpWith(tracker.of(project));
  const { browser, page } = await settings(setup, 'bob');
  expect(page.text).toContain('/connections/key?server=tracker&amp;scope=project');
  const form = await browser.open(`${setup.publicUrl}/connections/key?server=tracker&scope=project`);
  expect(words(form)).toContain('This account becomes everybody’s in demo');
  const done = await browser.press(form, { action: 'connect', key: goodKey });
  expect(words(done)).toContain('Tracker is connected as key ending in …ab12');
  expect(setup.confirmed).toEqual([[shared, 1]]);
  const again = await browser.open(`${setup.publicUrl}/connections/key?server=tracker&scope=project`);
  expect(words(again)).toContain('Replace everybody’s key for Tracker');
  await browser.press(again, { action: 'connect', key: other });
  expect(await setup.storage.connections.get(shared)).toMatchObject({ version: 2 });

  const confirm = await browser.open(
    `${setup.publicUrl}/connections/disconnect?server=tracker&scope=project`,
  );
  expect(words(confirm)).toContain('everybody’s key key ending in …zz99');
  expect(words(await browser.press(confirm, { action: 'disconnect' }))).toContain('Tracker is disconnected');
  expect(await setup.storage.connections.get(shared)).toBeNull();
  expect(await setup.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'connected', actor: 'bob' },
    { action: 'connected', actor: 'bob' },
    { action: 'disconnected', actor: 'bob' },
  ]);
});

test('a user finds no way to change a shared account, or to see as whom it is connected', async () => {
  const setup = await setUpWith(serverConfig(away, project));
  await putAccount(setup, { key: shared, serverUrl: away, account: 'billing@acme.example' });
  const { browser, page } = await settings(setup, 'alice');
  expect(words(page)).toMatch(/Connected One account for everybody .* Ask Dana in Finance\./);
  expect(page.text).not.toMatch(/billing@acme|issues:read|scope=project|value="connect"/);
  for (const path of ['key', 'connect', 'disconnect'])
    for (const scope of ['project', 'user']) {
      const shown = await browser.open(
        `${setup.publicUrl}/connections/${path}?server=tracker&scope=${scope}`,
      );
      expect([path, scope, shown.url]).toEqual([path, scope, `${setup.publicUrl}/connections`]);
    }
  for (const action of ['connect', 'disconnect'])
    for (const scope of ['project', 'user']) {
      const fields = { server: 'tracker', scope, action, csrf: csrfOf(page), key: goodKey };
      const { status } = await browser.post(`${setup.publicUrl}/connections`, fields, setup.publicUrl);
      expect([action, scope, status]).toEqual([action, scope, 404]);
    }
  expect(await setup.storage.connections.get(shared)).toMatchObject({ version: 1, status: 'active' });
  expect(setup.dump()['oauth_attempts']).toEqual([]);
  expect((await refusals(setup)).map(({ detail }) => detail)).toEqual([
    'connecting what is not a connection of their own',
    'connecting what is not a connection of their own',
    'tracker: disconnecting a shared account',
    'tracker: disconnecting a shared account',
  ]);
});

test('who holds a permit connects a shared account while it lasts, and no longer', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpWith({ ...tracker.config, ...project });
  await setup.storage.accountPermits.give({
    tenant: 'demo',
    server: tracker.config.name,
    user: 'alice',
    expiresAt: Date.now() + 60_000,
  });
  const key = { ...shared, server: tracker.config.name };
  const { browser } = await settings(setup, 'alice');
  const address = `${setup.publicUrl}/connections/connect?server=${key.server}&scope=project`;
  const begin = async () => {
    const page = await browser.open(address);
    expect(words(page)).toContain('This account becomes everybody’s in demo');
    return browser.press(page, { action: 'connect' });
  };
  for (const version of [1, 2]) {
    expect((await browser.open(onward(await begin()))).url).toContain('/connections?connected=');
    expect(await setup.storage.connections.get(key)).toMatchObject({ version });
  }

  const callback = await browser.until(onward(await begin()), `${setup.publicUrl}/auth/callback`);
  await setup.storage.accountPermits.give({ ...key, user: 'alice', expiresAt: 1 });
  expect((await browser.open(callback.url)).status).toBe(403);
  expect(await setup.storage.connections.get(key)).toMatchObject({ version: 2 });
  expect(await refusals(setup)).toMatchObject([{ actor: 'alice', detail: /connecting a shared account/ }]);
});
