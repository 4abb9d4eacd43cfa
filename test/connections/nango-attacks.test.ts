/** Attacks where accounts are kept at Nango, which does not check owners: only our rows say whose connection it is. */
import { expect, test } from 'vitest';
import { Browser } from '../api/pages/browser.ts';
import type { Shown } from '../api/pages/browser.ts';
import { formOf } from './attacked-pages.ts';
import { setUpNangoPages } from '../api/pages/nango-pages-setup.ts';
import type { NangoPagesSetup } from '../api/pages/nango-pages-setup.ts';
import { comeBack, connectPage, decide, goToProvider, walkThrough } from '../servers/nango/walk.ts';

interface Attempt {
  attempt: string;
  /** The way to the provider, which a person could forward. */
  pageUrl: string;
}

interface Seat {
  browser: Browser;
  page: Shown;
  csrf: string;
  /** As the page's script asks. */
  ask(path: string, body: object, changes?: Record<string, string>): Promise<Shown>;
  begin(goal: object): Promise<Attempt>;
}

async function createAttackedPages() {
  const setup = await setUpNangoPages();
  return { ...setup, at: (user: 'alice' | 'bob', id: string) => seatOf(setup, user, id) };
}

/** A person with a question of their own. */
async function seatOf(setup: NangoPagesSetup, user: 'alice' | 'bob', id: string): Promise<Seat> {
  const { publicUrl, nango } = setup;
  await setup.ask({ id, user });
  const { browser, page } = await setup.openAs(user, id);
  const { csrf = '' } = formOf(page, {});
  const ask: Seat['ask'] = (path, body, changes = {}) =>
    browser.send(`${publicUrl}/auth/connect/nango${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: publicUrl, 'x-csrf-token': csrf, ...changes },
      body: JSON.stringify(body),
    });
  return {
    browser,
    page,
    csrf,
    ask,
    async begin(goal) {
      const { text } = await ask('', goal);
      const { attempt, token, integration } = JSON.parse(text) as Record<string, string>;
      if (!attempt || !token || !integration) throw new Error(`no session: ${text}`);
      return { attempt, pageUrl: connectPage(nango.host, integration, token) };
    },
  };
}

/** What is recorded of accounts and attempts; what Nango has of its own is another matter. */
function recorded({ dump }: NangoPagesSetup) {
  const { connections, connect_attempts, elicitations, elicitation_answers } = dump();
  return { connections, connect_attempts, elicitations, elicitation_answers };
}

/** Opening a question leaves a row without an account, to be locked. */
function connectionsIn(setup: NangoPagesSetup) {
  return setup.dump()['connections']?.filter((row) => (row as { version: number }).version > 0);
}

function refused(setup: NangoPagesSetup) {
  return setup.dump()['audit'];
}

test('somebody else’s connection, swapped in for one’s own, is nobody’s', async () => {
  const setup = await createAttackedPages();
  const alice = await setup.at('alice', 'q1');
  const bob = await setup.at('bob', 'q2');
  const hers = await alice.begin({ e: 'q1' });
  await walkThrough(hers.pageUrl, 'alice');
  const [connection] = setup.nango.connections();
  const connectionId = connection?.connectionId ?? '';
  const his = await bob.begin({ e: 'q2' });
  const before = recorded(setup);

  const swapped = await bob.ask('/complete', { e: 'q2', attempt: his.attempt, connectionId });
  expect(swapped.status).toBe(403);
  expect(refused(setup)).toMatchObject([
    {
      actor: 'bob',
      tenant: 'demo',
      action: 'refused',
      detail: 'a connection of another attempt',
      elicitation_id: 'q2',
    },
  ]);
  expect((await bob.ask('/complete', { e: 'q2', attempt: hers.attempt, connectionId })).status).toBe(403);
  expect((await bob.ask('/look', { e: 'q2', attempt: hers.attempt })).status).toBe(403);
  expect(refused(setup)?.slice(1)).toMatchObject([
    { actor: 'bob', detail: 'an attempt of somebody else', elicitation_id: 'q1' },
    { actor: 'bob', detail: 'an attempt of somebody else', elicitation_id: 'q1' },
  ]);
  expect(recorded(setup)).toEqual(before);
  expect(setup.nango.connections()).toHaveLength(1);

  expect((await alice.ask('/complete', { e: 'q1', attempt: hers.attempt, connectionId })).status).toBe(200);
  expect(setup.confirmed).toEqual([[{ tenant: 'demo', server: 'tracker', user: 'alice' }, 1]]);
});

test('a connection that nobody of ours began is not taken for one, however it got there', async () => {
  const setup = await createAttackedPages();
  const bob = await setup.at('bob', 'q2');
  const { attempt } = await bob.begin({ e: 'q2' });
  const imported = await setup.nango.importConnection('alice');
  const tagged = await setup.nango.importConnection('alice', { interlude_attempt: attempt });
  for (const connectionId of [imported, tagged, 'no-such-connection']) {
    const { status } = await bob.ask('/complete', { e: 'q2', attempt, connectionId });
    expect([connectionId, status]).toEqual([connectionId, 403]);
  }
  expect(connectionsIn(setup)).toEqual([]);
  expect(setup.nango.connections()).toHaveLength(2);
});

test('nobody gets a way to the provider for the question of another, and it is in the audit', async () => {
  const setup = await createAttackedPages();
  await setup.ask();
  await setup.ask({ id: 'acme', tenant: 'acme' });
  const bob = await setup.at('bob', 'q2');
  const before = recorded(setup);
  expect((await bob.ask('', { e: 'q1' })).status).toBe(403);
  expect((await bob.ask('', { e: 'acme' })).status).toBe(404);
  expect((await bob.ask('', { server: 'another', seenVersion: 0 })).status).toBe(404);
  expect(refused(setup)).toMatchObject([
    { actor: 'bob', elicitation_id: 'q1', detail: 'another user' },
    { actor: 'demo/bob', tenant: 'acme', elicitation_id: 'acme', detail: 'another tenant' },
    { actor: 'bob', detail: 'connecting what is not a connection of their own' },
  ]);
  expect(recorded(setup)).toEqual(before);
  expect(setup.nango.count('POST', '/connect/sessions')).toBe(0);
});

test.each([
  ['a foreign origin', { origin: 'https://evil.example' }],
  ['the origin null', { origin: 'null' }],
  ['no token', { 'x-csrf-token': '' }],
  ['a guessed token', { 'x-csrf-token': 'x'.repeat(43) }],
])('a request with %s is none of our page', async (_, changes) => {
  const setup = await createAttackedPages();
  const alice = await setup.at('alice', 'q1');
  const before = recorded(setup);
  for (const path of ['', '/look', '/complete']) {
    const body = { e: 'q1', attempt: 'a', connectionId: 'c' };
    expect([path, (await alice.ask(path, body, changes)).status]).toEqual([path, 403]);
  }
  expect(refused(setup)).toMatchObject(
    Array.from({ length: 3 }, () => ({ actor: 'alice', detail: 'request from another page' })),
  );
  expect(recorded(setup)).toEqual(before);
  expect(setup.nango.count('POST', '/connect/sessions')).toBe(0);
});

test('a provider’s page that is forwarded brings nobody’s account to anybody, where Nango binds it to the browser', async () => {
  const setup = await createAttackedPages();
  setup.nango.enforceStateCookie = true;
  const alice = await setup.at('alice', 'q1');
  const { attempt, pageUrl } = await alice.begin({ e: 'q1' });
  const there = await goToProvider(pageUrl);
  const before = recorded(setup);
  // The victim allows it; their browser has nothing of Nango's.
  const victim = await comeBack(await decide(there, 'bob'), { cookie: '' });
  expect(victim.text).toContain('The browser is not the one that began this');
  await alice.ask('/look', { e: 'q1', attempt });
  expect(setup.nango.connections()).toEqual([]);
  expect(recorded(setup)).toEqual(before);
  expect(setup.confirmed).toEqual([]);
});

test('Nango’s page or the provider’s, forwarded, links nobody’s account to anybody where the callback is ours', async () => {
  const setup = await createAttackedPages();
  setup.nango.enforceStateCookie = true;
  setup.nango.callbackUrl = `${setup.publicUrl}/auth/nango/callback`;
  const alice = await setup.at('alice', 'q1');
  const { attempt, pageUrl } = await alice.begin({ e: 'q1' });
  // The victim opens the very page that Nango begins with, so that Nango's cookie is in their browser.
  const strangers = [new Browser(), (await setup.openAs('bob', 'q1')).browser];
  for (const victim of strangers) {
    const there = await goToProvider(pageUrl);
    const shown = await victim.open(await decide(there, 'bob'));
    expect([shown.status, shown.url]).toEqual([400, expect.stringContaining('/auth/nango/callback?')]);
  }
  expect(setup.nango.connections()).toEqual([]);
  expect(connectionsIn(setup)).toEqual([]);
  expect(refused(setup)).toMatchObject([
    { actor: 'bob', elicitation_id: 'q1' },
    { tenant: '', detail: 'a provider’s answer that nobody here has begun' },
    { actor: 'bob', detail: 'a provider’s answer that nobody here has begun' },
  ]);

  // The person who has begun it gets through, with Nango's cookie.
  const there = await goToProvider(pageUrl);
  const callback = `${setup.nango.host}/oauth/callback`;
  const passed = await alice.browser.until(await decide(there, 'alice'), callback);
  expect((await comeBack(passed.url, there)).status).toBe(200);
  const told = await alice.ask('/look', { e: 'q1', attempt });
  expect(JSON.parse(told.text)).toMatchObject({ state: 'over' });
});

test('without our callback, whoever opens the page that Nango begins with connects for whom it was made', async () => {
  const setup = await createAttackedPages();
  setup.nango.enforceStateCookie = true;
  const alice = await setup.at('alice', 'q1');
  const { attempt, pageUrl } = await alice.begin({ e: 'q1' });
  await walkThrough(pageUrl, 'bob');
  const told = await alice.ask('/look', { e: 'q1', attempt });
  expect(JSON.parse(told.text)).toMatchObject({ state: 'over' });
  // What remains is that the page shows whose account it is.
  expect(await alice.browser.open(setup.link('q1'))).toMatchObject({
    text: expect.stringMatching(/Connected as <strong>bob/),
  });
});

test('what is connected after the person has disconnected is recorded for nobody', async () => {
  const setup = await createAttackedPages();
  const alice = await setup.at('alice', 'q1');
  const { attempt, pageUrl } = await alice.begin({ e: 'q1' });
  await setup.storage.connectAttempts.dropOf({ tenant: 'demo', server: 'tracker', user: 'alice' });
  await walkThrough(pageUrl, 'alice');
  const [connection] = setup.nango.connections();
  const connectionId = connection?.connectionId ?? '';
  const told = await alice.ask('/complete', { e: 'q1', attempt, connectionId });
  expect(JSON.parse(told.text)).toEqual({ state: 'lost' });
  expect(connectionsIn(setup)).toEqual([]);
  expect(setup.confirmed).toEqual([]);
});
