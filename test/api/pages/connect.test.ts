import { expect, test } from 'vitest';
import { ServiceError } from '../../../src/service/service-error.ts';
import { startGuardedServer } from '../../credentials/guarded-server.ts';
import { Browser, hiddenFields, onward, words } from './browser.ts';
import { setUpPages } from './pages-setup.ts';
import { endQuestion } from '../../storage/end-question.ts';
import { timesScript } from '../../../src/api/pages/elements.ts';

const connection = { tenant: 'demo', server: 'tracker', user: 'alice' };

test('alice signs in, sees who asks for what, connects, and the waiting turn is told', async () => {
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config);
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  expect(page.status).toBe(200);
  for (const said of [
    'Connect Tracker',
    'Tracker needs your account to run List issues.',
    'Asked by Assistant',
    'Server tracker.example.com',
    'Permissions issues:read',
    'Time left 9 minutes',
    'Signed in as Alice',
  ]) {
    expect(words(page)).toContain(said);
  }

  const leaving = await browser.press(page, { action: 'connect' });
  expect(leaving).toMatchObject({ status: 200, trail: [] });
  expect(words(leaving)).toContain('Taking you to Tracker');
  expect(leaving.text).toContain(`href="${onward(leaving).replaceAll('&', '&amp;')}"`);

  const done = await browser.open(onward(leaving));
  expect(done.url).toBe(`${setup.publicUrl}/auth/done?e=q1`);
  expect(words(done)).toContain('Tracker is connected');
  expect(words(done)).toContain('you can close this window');
  expect(setup.confirmed).toEqual([[connection, 1]]);
  expect(await setup.storage.connections.get(connection)).toMatchObject({ version: 1, status: 'active' });
  expect(await setup.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'connected', actor: 'alice' },
  ]);
});

test('the account is named once it is connected', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser } = await setup.openAs('alice');
  const account = {
    store: 'oauth',
    account: 'alice@work.example',
    scopes: [],
    sealed: 'x',
    freshUntil: null,
  };
  await setup.storage.connections.establish(connection, account);
  expect(words(await browser.open(setup.link('q1')))).toContain('Connected as alice@work.example');
});

test('bob opening the link of alice is refused and audited, and nothing changed', async () => {
  const setup = await setUpPages();
  const row = await setup.ask();
  const { browser, page } = await setup.openAs('bob');
  expect(page.status).toBe(403);
  expect(words(page)).toContain('You are signed in as Bob');
  expect(page.text).not.toContain('Tracker');
  expect(page.text).not.toMatch(/alice/i);
  expect(await setup.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'refused', actor: 'bob', detail: 'another user', address: '127.0.0.1' },
  ]);

  // With a form token of his own, from a question of his own.
  await setup.ask({ id: 'q2', user: 'bob' });
  const own = await browser.open(setup.link('q2'));
  for (const action of ['connect', 'decline']) {
    expect(await browser.press(own, { action }, { e: 'q1' })).toMatchObject({ status: 403 });
  }
  expect(setup.answers).toEqual([]);
  expect(await setup.storage.elicitations.get('q1')).toEqual(row);
  expect(setup.dump()['oauth_attempts']).toEqual([]);

  const other = /href="([^"]*as=other)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const again = await browser.open(other);
  expect(words(again)).toContain('Continue as Alice');
  expect(words(await browser.press(again, { user: 'alice' }))).toContain('Signed in as Alice');
});

test('a question of another tenant does not exist, not even for a user of the same name', async () => {
  const setup = await setUpPages();
  await setup.ask({ tenant: 'acme', user: 'alice' });
  const { page } = await setup.openAs('alice');
  expect(page.status).toBe(404);
  expect(await setup.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'refused', tenant: 'acme', actor: 'demo/alice', detail: 'another tenant' },
  ]);
});

test('looking at the link changes nothing, signed in or not, however often', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const before = setup.dump();
  const { browser } = await setup.openAs('alice');
  for (let time = 0; time < 10; time++) {
    expect((await browser.open(setup.link('q1'))).status).toBe(200);
    await browser.open(`${setup.publicUrl}/auth/done?e=q1`);
    await new Browser().open(setup.link('q1'));
  }
  expect(setup.dump()).toEqual(before);
  expect(Object.values(before).flat().length).toBeGreaterThan(3);
});

test('a form counts only with the token and the origin of our own page', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const good = { ...hiddenFields(page.text), action: 'decline' };
  expect(good).toMatchObject({ e: 'q1' });
  const url = `${setup.publicUrl}/auth/connect`;
  const withoutToken = { e: 'q1', action: 'decline' };

  expect((await browser.post(url, withoutToken, setup.publicUrl)).status).toBe(400);
  expect((await browser.post(url, { ...good, csrf: 'x'.repeat(43) }, setup.publicUrl)).status).toBe(403);
  expect((await browser.post(url, good, 'https://evil.example')).status).toBe(403);
  expect((await browser.post(url, good, 'null')).status).toBe(403);
  expect((await browser.post(url, good)).status).toBe(403);
  expect((await browser.post(url, { ...good, action: 'expire' }, setup.publicUrl)).status).toBe(400);
  expect((await new Browser().post(url, good, setup.publicUrl)).status).toBe(403);
  expect(setup.answers).toEqual([]);
  expect(await setup.storage.audit.ofElicitation('q1')).toHaveLength(5);

  expect((await browser.post(url, good, setup.publicUrl)).status).toBe(200);
  expect(setup.answers).toEqual([{ id: 'q1', action: 'decline', user: 'alice' }]);
});

test('a form from before the person signed in again says so, and leads back to the question', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const signIn = await browser.open(`${setup.publicUrl}/auth/login?e=q1&as=other`);
  await browser.press(signIn, { user: 'alice' });
  const stale = await browser.press(page, { action: 'decline' });
  expect([stale.status, words(stale)]).toEqual([403, expect.stringContaining('you have signed in again')]);
  expect(stale.text).toContain(`href="${setup.publicUrl}/auth/answer?e=q1"`);
  expect(setup.answers).toEqual([]);
});

test('each address of a question shows it, whatever it is about, and takes its answer', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const context = { trigger: 'mcp_elicitation', serverTitle: 'Tracker' };
  const requestedSchema = { type: 'object', properties: {} };
  const request = { mode: 'form', message: 'Really?', context, requestedSchema } as never;
  await setup.ask({ id: 'form', server: null, request });
  const { browser } = await setup.openAs('alice');
  const at = (path: string, id: string) => browser.open(`${setup.publicUrl}/auth/${path}?e=${id}`);
  for (const path of ['answer', 'connect', 'done']) {
    const [account, form] = [await at(path, 'q1'), await at(path, 'form')];
    expect([account.trail, words(account)]).toEqual([[], expect.stringContaining('Connect Tracker')]);
    expect([form.trail, words(form)]).toEqual([[], expect.stringContaining('Tracker asks you')]);
  }
  const form = await at('connect', 'form');
  expect((await browser.press(form, { action: 'connect' })).status).toBe(400);
  expect((await browser.press(form, { e: 'q1', action: 'accept' })).status).toBe(400);
  expect(setup.answers).toEqual([]);
  const post = (path: string, e: string) =>
    browser.post(
      `${setup.publicUrl}/auth/${path}`,
      { ...hiddenFields(form.text), e, action: 'decline' },
      setup.publicUrl,
    );
  expect([(await post('answer', 'q1')).status, (await post('connect', 'form')).status]).toEqual([200, 200]);
  expect(setup.answers.map(({ id, action }) => [id, action])).toEqual([
    ['q1', 'decline'],
    ['form', 'decline'],
  ]);
});

test('"not now" answers the question with decline', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const said = await browser.press(page, { action: 'decline' });
  expect(words(said)).toContain('Not now, then');
  expect(setup.answers).toEqual([{ id: 'q1', action: 'decline', user: 'alice' }]);
  expect(await browser.open(setup.link('q1'))).toMatchObject({ status: 410 });
});

test('closing the question dismisses it, which is not "not now", and leads to where it can be connected later', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  expect(page.text).toMatch(
    /<button\s+name="action"\s+value="cancel"\s+class="dismiss"\s+aria-label="Dismiss"/,
  );
  const said = await browser.press(page, { action: 'cancel' });
  expect(words(said)).toContain('The question is dismissed');
  expect(words(said)).not.toContain('Not now');
  expect(said.text).toContain(`href="${setup.publicUrl}/connections"`);
  expect(setup.answers).toEqual([{ id: 'q1', action: 'cancel', user: 'alice' }]);
});

test('"not now" on a question that ended meanwhile shows how it ended', async () => {
  const setup = await setUpPages(undefined, {
    answer: async (_, { elicitationId }) => {
      await endQuestion(setup.storage, elicitationId, 'expired');
      throw new ServiceError('expired', 'Too late.');
    },
  });
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const said = await browser.press(page, { action: 'decline' });
  expect(said.status).toBe(410);
  expect(words(said)).toContain('This question has expired');
});

test('an answer that may have arrived is not said to have changed nothing', async () => {
  const setup = await setUpPages(undefined, {
    answer: async () => {
      throw new ServiceError('unavailable', 'The workflow engine cannot be reached.');
    },
  });
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const said = await browser.press(page, { action: 'decline' });
  expect(said.status).toBe(503);
  expect(words(said)).toContain('What you sent may have arrived nevertheless');
  expect(words(said)).not.toContain('Nothing was');
});

test('a page that cannot read the database says that it is not available, and leaves the person signed in', async () => {
  const setup = await setUpPages();
  await setup.ask();
  const { browser } = await setup.openAs('alice');
  await setup.storage.close();
  const page = await browser.open(setup.link('q1'));
  expect(page.status).toBe(503);
  expect(words(page)).toContain('Not available right now');
  expect(browser.cookies.has('interlude-session')).toBe(true);
});

test.each([
  ['decline', 410, 'You said “not now”'],
  ['cancel', 410, 'This question is closed'],
  ['expired', 410, 'This question has expired'],
  ['accept', 200, 'Tracker is connected'],
] as const)('a question that ended with %s has its own page', async (outcome, status, heading) => {
  const setup = await setUpPages();
  await setup.ask();
  await endQuestion(setup.storage, 'q1', outcome);
  const { page } = await setup.openAs('alice');
  expect(page.status).toBe(status);
  expect(words(page)).toContain(heading);
  expect(page.text).not.toContain('<form');
});

test('a question past its deadline has expired, even before its turn has said so', async () => {
  const setup = await setUpPages();
  await setup.ask({ deadline: Date.now() - 1 });
  const { page } = await setup.openAs('alice');
  expect(page.status).toBe(410);
});

test('links to nothing lead to the page that says so', async () => {
  const setup = await setUpPages();
  const { browser, page } = await setup.openAs('alice', 'no-such-question');
  expect(page.status).toBe(404);
  expect((await browser.open(`${setup.publicUrl}/auth/connect`)).status).toBe(404);
  expect((await browser.open(`${setup.publicUrl}/auth/connect?e=a&e=b`)).status).toBe(404);
  expect((await browser.open(setup.link('x'.repeat(201)))).status).toBe(404);
});

test('markup in a title, a message, a host or a scope is shown, not obeyed', async () => {
  const attack = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;
  const setup = await setUpPages();
  const { request } = await setup.ask();
  const context = { ...request.context, host: attack, toolName: attack, agent: attack, scopes: [attack] };
  await setup.ask({ id: 'q2', request: { message: attack, context } });
  const { page } = await setup.openAs('alice', 'q2');
  expect(page.status).toBe(200);
  expect(page.text.replace(timesScript.markup, '')).not.toMatch(/<script|<img/);
  expect(page.text.split('&quot;&gt;&lt;script&gt;')).toHaveLength(5);
});

test('who asks, for what and why are on the page: all agents on the way, and only what is new', async () => {
  const setup = await setUpPages();
  const { request } = await setup.ask();
  const context = {
    ...request.context,
    agent: 'Researcher',
    path: ['planner', 'researcher'],
    reason: 'insufficient_scope' as const,
    scopes: ['issues:write'],
  };
  const message = 'Tracker needs more permissions than you gave so far to create issue.';
  await setup.ask({ id: 'q2', request: { message, context } });
  const { browser, page } = await setup.openAs('alice', 'q2');
  for (const said of [
    'Connect Tracker again',
    message,
    'Asked by planner → Researcher',
    'Server tracker.example.com',
    'New permissions issues:write In addition to what you allowed before',
  ]) {
    expect(words(page)).toContain(said);
  }
  expect(words(await browser.open(setup.link('q1')))).not.toContain('In addition to');
});

test('warnings about an address are put in words', async () => {
  const setup = await setUpPages();
  const { request } = await setup.ask();
  const context = { ...request.context, warnings: ['punycode' as const, 'plain_http' as const] };
  await setup.ask({ id: 'q2', request: { context } });
  const { page } = await setup.openAs('alice', 'q2');
  expect(words(page)).toContain('look-alike letters');
  expect(words(page)).toContain('not encrypted');
});
