import { expect, test } from 'vitest';
import { ServiceError } from '../../../src/service/service-error.ts';
import { startGuardedServer } from '../../credentials/guarded-server.ts';
import { Browser, hiddenFields, words } from './browser.ts';
import { onward } from './onward.ts';
import { createStage } from './stage.ts';

const connection = { tenant: 'demo', server: 'tracker', user: 'alice' };

test('alice signs in, sees who asks for what, connects, and the waiting turn is told', async () => {
  const tracker = await startGuardedServer();
  const stage = await createStage(tracker.config);
  await stage.ask();
  const { browser, page } = await stage.openAs('alice');
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
  expect(done.url).toBe(`${stage.publicUrl}/auth/done?e=q1`);
  expect(words(done)).toContain('Tracker is connected');
  expect(words(done)).toContain('you can close this window');
  expect(stage.announced).toEqual([[connection, 1]]);
  expect(await stage.storage.connections.get(connection)).toMatchObject({ version: 1, status: 'active' });
  expect(await stage.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'connected', actor: 'alice' },
  ]);
});

test('the account is named once it is connected', async () => {
  const stage = await createStage();
  await stage.ask();
  const { browser } = await stage.openAs('alice');
  const account = {
    store: 'oauth',
    account: 'alice@work.example',
    scopes: [],
    sealed: 'x',
    freshUntil: null,
  };
  await stage.storage.connections.establish(connection, account);
  expect(words(await browser.open(stage.link('q1')))).toContain('Connected as alice@work.example');
});

test('bob opening the link of alice is refused and audited, and nothing changed', async () => {
  const stage = await createStage();
  const row = await stage.ask();
  const { browser, page } = await stage.openAs('bob');
  expect(page.status).toBe(403);
  expect(words(page)).toContain('You are signed in as Bob');
  expect(page.text).not.toContain('Tracker');
  expect(page.text).not.toMatch(/alice/i);
  expect(await stage.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'refused', actor: 'bob', detail: 'another user', address: '127.0.0.1' },
  ]);

  // With a form token of his own, from a question of his own.
  await stage.ask({ id: 'q2', user: 'bob' });
  const own = await browser.open(stage.link('q2'));
  for (const action of ['connect', 'decline']) {
    expect(await browser.press(own, { action }, { e: 'q1' })).toMatchObject({ status: 403 });
  }
  expect(stage.answers).toEqual([]);
  expect(await stage.storage.elicitations.get('q1')).toEqual(row);
  expect(stage.dump()['oauth_attempts']).toEqual([]);

  const other = /href="([^"]*as=other)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const again = await browser.open(other);
  expect(words(again)).toContain('Continue as Alice');
  expect(words(await browser.press(again, { user: 'alice' }))).toContain('Signed in as Alice');
});

test('a question of another tenant does not exist, not even for a user of the same name', async () => {
  const stage = await createStage();
  await stage.ask({ tenant: 'acme', user: 'alice' });
  const { page } = await stage.openAs('alice');
  expect(page.status).toBe(404);
  expect(await stage.storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'refused', tenant: 'acme', actor: 'demo/alice', detail: 'another tenant' },
  ]);
});

test('looking at the link changes nothing, signed in or not, however often', async () => {
  const stage = await createStage();
  await stage.ask();
  const before = stage.dump();
  const { browser } = await stage.openAs('alice');
  for (let time = 0; time < 10; time++) {
    expect((await browser.open(stage.link('q1'))).status).toBe(200);
    await browser.open(`${stage.publicUrl}/auth/done?e=q1`);
    await new Browser().open(stage.link('q1'));
  }
  expect(stage.dump()).toEqual(before);
  expect(Object.values(before).flat().length).toBeGreaterThan(3);
});

test('a form counts only with the token and the origin of our own page', async () => {
  const stage = await createStage();
  await stage.ask();
  const { browser, page } = await stage.openAs('alice');
  const good = { ...hiddenFields(page.text), action: 'decline' };
  expect(good).toMatchObject({ e: 'q1' });
  const url = `${stage.publicUrl}/auth/connect`;
  const withoutToken = { e: 'q1', action: 'decline' };

  expect((await browser.post(url, withoutToken, stage.publicUrl)).status).toBe(400);
  expect((await browser.post(url, { ...good, csrf: 'x'.repeat(43) }, stage.publicUrl)).status).toBe(403);
  expect((await browser.post(url, good, 'https://evil.example')).status).toBe(403);
  expect((await browser.post(url, good, 'null')).status).toBe(403);
  expect((await browser.post(url, good)).status).toBe(403);
  expect((await browser.post(url, { ...good, action: 'expire' }, stage.publicUrl)).status).toBe(400);
  expect((await new Browser().post(url, good, stage.publicUrl)).status).toBe(403);
  expect(stage.answers).toEqual([]);
  expect(await stage.storage.audit.ofElicitation('q1')).toHaveLength(5);

  expect((await browser.post(url, good, stage.publicUrl)).status).toBe(200);
  expect(stage.answers).toEqual([{ id: 'q1', action: 'decline', user: 'alice' }]);
});

test('"not now" answers the question with decline', async () => {
  const stage = await createStage();
  await stage.ask();
  const { browser, page } = await stage.openAs('alice');
  const said = await browser.press(page, { action: 'decline' });
  expect(words(said)).toContain('Not now, then');
  expect(stage.answers).toEqual([{ id: 'q1', action: 'decline', user: 'alice' }]);
  expect(await browser.open(stage.link('q1'))).toMatchObject({ status: 410 });
});

test('closing the question dismisses it, which is not "not now", and leads to where it can be connected later', async () => {
  const stage = await createStage();
  await stage.ask();
  const { browser, page } = await stage.openAs('alice');
  expect(page.text).toMatch(/<button name="action" value="cancel" class="dismiss" aria-label="Dismiss"/);
  const said = await browser.press(page, { action: 'cancel' });
  expect(words(said)).toContain('The question is dismissed');
  expect(words(said)).not.toContain('Not now');
  expect(said.text).toContain(`href="${stage.publicUrl}/connections"`);
  expect(stage.answers).toEqual([{ id: 'q1', action: 'cancel', user: 'alice' }]);
});

test('"not now" on a question that ended meanwhile shows how it ended', async () => {
  const stage = await createStage(undefined, {
    answer: async (_, { elicitationId }) => {
      await stage.storage.elicitations.settle(elicitationId, 'expired', null);
      throw new ServiceError('expired', 'Too late.');
    },
  });
  await stage.ask();
  const { browser, page } = await stage.openAs('alice');
  const said = await browser.press(page, { action: 'decline' });
  expect(said.status).toBe(410);
  expect(words(said)).toContain('This question has expired');
});

test('an answer that cannot be kept is said to be not kept', async () => {
  const stage = await createStage(undefined, {
    answer: async () => {
      throw new ServiceError('unavailable', 'The database is away.');
    },
  });
  await stage.ask();
  const { browser, page } = await stage.openAs('alice');
  const said = await browser.press(page, { action: 'decline' });
  expect(said.status).toBe(503);
  expect(words(said)).toContain('Nothing was changed');
});

test('a page that cannot read the database says that it is not available, and leaves the person signed in', async () => {
  const stage = await createStage();
  await stage.ask();
  const { browser } = await stage.openAs('alice');
  await stage.storage.close();
  const page = await browser.open(stage.link('q1'));
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
  const stage = await createStage();
  await stage.ask();
  await stage.storage.elicitations.settle('q1', outcome, null);
  const { page } = await stage.openAs('alice');
  expect(page.status).toBe(status);
  expect(words(page)).toContain(heading);
  expect(page.text).not.toContain('<form');
});

test('a question past its deadline has expired, even before its turn has said so', async () => {
  const stage = await createStage();
  await stage.ask({ deadline: Date.now() - 1 });
  const { page } = await stage.openAs('alice');
  expect(page.status).toBe(410);
});

test('links to nothing lead to the page that says so', async () => {
  const stage = await createStage();
  await stage.ask({ id: 'form', server: null });
  const { browser, page } = await stage.openAs('alice', 'no-such-question');
  expect(page.status).toBe(404);
  expect((await browser.open(stage.link('form'))).status).toBe(404);
  expect((await browser.open(`${stage.publicUrl}/auth/connect`)).status).toBe(404);
  expect((await browser.open(`${stage.publicUrl}/auth/connect?e=a&e=b`)).status).toBe(404);
  expect((await browser.open(stage.link('x'.repeat(201)))).status).toBe(404);
});

test('markup in a title, a message, a host or a scope is shown, not obeyed', async () => {
  const attack = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;
  const stage = await createStage();
  const { request } = await stage.ask();
  const context = { ...request.context, host: attack, toolName: attack, agent: attack, scopes: [attack] };
  await stage.ask({ id: 'q2', request: { message: attack, context } });
  const { page } = await stage.openAs('alice', 'q2');
  expect(page.status).toBe(200);
  expect(page.text).not.toMatch(/<script|<img/);
  expect(page.text.split('&quot;&gt;&lt;script&gt;')).toHaveLength(5);
});

test('who asks, for what and why are on the page: all agents on the way, and only what is new', async () => {
  const stage = await createStage();
  const { request } = await stage.ask();
  const context = {
    ...request.context,
    agent: 'Researcher',
    path: ['planner', 'researcher'],
    reason: 'insufficient_scope' as const,
    scopes: ['issues:write'],
  };
  const message = 'Tracker needs more permissions than you gave so far to create issue.';
  await stage.ask({ id: 'q2', request: { message, context } });
  const { browser, page } = await stage.openAs('alice', 'q2');
  for (const said of [
    'Connect Tracker again',
    message,
    'Asked by planner → Researcher',
    'Server tracker.example.com',
    'New permissions issues:write In addition to what you allowed before',
  ]) {
    expect(words(page)).toContain(said);
  }
  expect(words(await browser.open(stage.link('q1')))).not.toContain('In addition to');
});

test('warnings about an address are put in words', async () => {
  const stage = await createStage();
  const { request } = await stage.ask();
  const context = { ...request.context, warnings: ['punycode' as const, 'plain_http' as const] };
  await stage.ask({ id: 'q2', request: { context } });
  const { page } = await stage.openAs('alice', 'q2');
  expect(words(page)).toContain('look-alike letters');
  expect(words(page)).toContain('not encrypted');
});
