/** The operators' pages, as browsers that run no scripts get them: who may see them, and what their forms do. */
import { expect, test } from 'vitest';
import { begunTurn, keptStep } from '../../storage/contract/fixtures.ts';
import { Browser, hiddenFields, words } from './browser.ts';
import { setUpPages } from './pages-setup.ts';

const role = (contentsRole?: string) => ({ operator: { claim: 'sub', role: 'bob', contentsRole } });
const setUp = (contentsRole?: string) => setUpPages(undefined, {}, [], {}, undefined, role(contentsRole));

type Setup = Awaited<ReturnType<typeof setUp>>;

async function enterAs(setup: Setup, user: string, path = '/operators') {
  const browser = new Browser();
  const page = await browser.press(await browser.open(setup.publicUrl + path), { user });
  return { browser, page };
}

test('a sign-in leads on to the turn that was asked for', async () => {
  const setup = await setUp();
  await setup.ask();
  const { page } = await enterAs(setup, 'bob', '/operators/turns/t-q1');
  expect(page.url).toBe(`${setup.publicUrl}/operators/turns/t-q1`);
  expect(words(page)).toContain('assistant for alice waiting Waits for alice to connect Tracker');
});

test('no one else gets in, which is recorded', async () => {
  const setup = await setUp('bob');
  await setup.ask();
  const { browser, page } = await enterAs(setup, 'alice');
  expect([page.status, words(page)]).toEqual([403, expect.stringContaining('For operators only')]);
  const csrf = hiddenFields(page.text)['csrf'] ?? '';
  const before = setup.dump()['elicitations'];
  for (const path of ['turns/t-q1/cancel', 'turns/t-q1/contents', 'questions/q1/expire']) {
    const answered = await browser.post(`${setup.publicUrl}/operators/${path}`, { csrf }, setup.publicUrl);
    expect([path, answered.status]).toEqual([path, 403]);
    expect(answered.text).not.toContain('t-q1');
  }
  expect(setup.dump()['elicitations']).toEqual(before);
  expect(await setup.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'refused', actor: 'alice', detail: 'an operators’ page' },
  ]);
});

test('a form of another page changes nothing', async () => {
  const setup = await setUp('bob');
  await setup.ask();
  const { browser, page } = await enterAs(setup, 'bob', '/operators/turns/t-q1');
  const url = `${setup.publicUrl}/operators/turns/t-q1/cancel`;
  const csrf = hiddenFields(page.text)['csrf'] ?? '';
  const answered = [
    await browser.post(url, { csrf }, 'https://evil.example'),
    await browser.post(url, { csrf }),
    await browser.post(url, { csrf: 'other' }, setup.publicUrl),
    await browser.post(url, {}, setup.publicUrl),
  ];
  expect(answered.map(({ status }) => status)).toEqual([403, 403, 403, 400]);
  expect(await setup.storage.elicitations.get('q1')).toMatchObject({ status: 'pending' });
});

test('turns and questions of another tenant do not exist', async () => {
  const setup = await setUp('bob');
  await setup.ask({ tenant: 'acme', user: 'eve' });
  const { browser, page } = await enterAs(setup, 'bob');
  expect(words(page)).toContain('No turn matches.');
  for (const path of [
    'turns/t-q1',
    'turns/t-q1/cancel',
    'questions/q1/expire',
    'turns/unknown',
    'turns/a%20b',
  ]) {
    const answered = await browser.open(`${setup.publicUrl}/operators/${path}`);
    expect([path, answered.status]).toEqual([path, 404]);
  }
  expect(words(await browser.open(`${setup.publicUrl}/operators/questions`))).toContain(
    'No question matches.',
  );
});

test('turns are found by what they are, and are told page by page', async () => {
  const setup = await setUp();
  for (let n = 0; n < 52; n++)
    await setup.ask({ id: `q${n}`, user: n === 3 ? 'carol' : `user${n % 4}`, server: null });
  const { browser, page } = await enterAs(setup, 'bob');
  expect(page.text.match(/class="seen"/g)).toHaveLength(1);
  const [, next = ''] = /href="([^"]*after=[^"]*)"/.exec(page.text) ?? [];
  const older = await browser.open(next.replaceAll('&amp;', '&'));
  const idsOf = (text: string) => [...text.matchAll(/turns\/(t-q\d+)"/g)].map(([, id]) => id);
  expect(new Set([...idsOf(page.text), ...idsOf(older.text)]).size).toBe(52);
  expect(idsOf(older.text)).toHaveLength(2);
  const ofCarol = await browser.open(
    `${setup.publicUrl}/operators?user=carol&agent=assistant&server=&state=waiting&age=hour`,
  );
  expect(idsOf(ofCarol.text)).toEqual(['t-q3']);
  expect(ofCarol.text).toMatch(/value="waiting" +selected/);
  expect(words(await browser.open(`${setup.publicUrl}/operators?age=over-day`))).toContain(
    'No turn matches.',
  );
});

test('the turn of a service says whose it is, and is found by that', async () => {
  const setup = await setUp();
  for (const service of ['billing', 'reports'])
    await begunTurn(setup.storage, { tenant: 'demo', turnId: `t-${service}`, user: null, service });
  const { browser } = await enterAs(setup, 'bob');
  const found = await browser.open(`${setup.publicUrl}/operators?service=billing`);
  expect(found.text).toContain('turns/t-billing"');
  expect(found.text).not.toContain('turns/t-reports"');
  expect(words(found)).toContain('assistant for the service billing');
  expect(found.text).toMatch(/name="service" value="billing"/);
  const told = words(await browser.open(`${setup.publicUrl}/operators/turns/t-billing`));
  expect(told).toContain('Service billing');
});

test('an operator expires a question and cancels a turn, each after a page that asks', async () => {
  const setup = await setUp();
  for (const id of ['q1', 'q2']) await setup.ask({ id });
  const { browser } = await enterAs(setup, 'bob');
  const asking = await browser.open(`${setup.publicUrl}/operators/questions/q1/expire`);
  expect(words(asking)).toContain(
    'alice was asked to connect Tracker. The turn goes on as if no one had answered in time.',
  );
  const expired = await browser.press(asking, {});
  expect(expired.url).toBe(`${setup.publicUrl}/operators/turns/t-q1`);
  expect(words(expired)).toContain('alice was asked to connect Tracker expired by bob after');
  const stopping = await browser.open(`${setup.publicUrl}/operators/turns/t-q2/cancel`);
  const stopped = words(await browser.press(stopping, {}));
  expect(stopped).toContain('bob cancelled the turn');
  expect(stopped).toContain('The turn is being cancelled.');
  expect(stopped).not.toContain('Cancel the turn');
  expect(await setup.storage.elicitations.get('q2')).toMatchObject({ status: 'cancel' });
  expect(await setup.storage.audit.ofTurn('t-q1')).toMatchObject([{ action: 'expired', actor: 'bob' }]);
});

test('contents are shown by a button to those who may see them, and to no one else', async () => {
  const setups = [await setUp('bob'), await setUp()] as const;
  for (const setup of setups) {
    const { tenant, conversation, turnId } = await setup.ask();
    const said = {
      type: 'tool-input-available',
      toolCallId: 'c',
      toolName: 'list',
      input: 'canary',
    } as const;
    await keptStep(
      setup.storage,
      { tenant, conversation, turnId },
      { events: [{ key: 'said', event: said }] },
    );
  }
  const [open, closed] = setups;
  const { browser, page } = await enterAs(open, 'bob', '/operators/turns/t-q1');
  expect(page.text).not.toContain('canary');
  expect(page.text).not.toContain('Tracker needs your account');
  const shown = await browser.press(page, {});
  expect(shown.text).toMatch(/Tracker needs your account[^]*canary/);
  expect(await open.storage.audit.ofTurn('t-q1')).toMatchObject([{ action: 'viewed', actor: 'bob' }]);

  const other = await enterAs(closed, 'bob', '/operators/turns/t-q1');
  expect(other.page.text).not.toContain('Show contents');
  const csrf = hiddenFields(other.page.text)['csrf'] ?? '';
  const refused = await other.browser.post(`${other.page.url}/contents`, { csrf }, closed.publicUrl);
  expect([refused.status, refused.text.includes('canary')]).toEqual([403, false]);
});

test('Temporal’s UI gets nothing for a browser that is not signed in, no operator, or another page', async () => {
  const setup = await setUp('bob');
  const url = `${setup.publicUrl}/operators/codec/decode`;
  const body = JSON.stringify({ payloads: [] });
  const send = (browser: Browser, origin: string) =>
    browser.send(url, { method: 'POST', body, headers: { origin, 'content-type': 'application/json' } });
  const ui = 'https://temporal.example';
  const [bob, alice] = [await enterAs(setup, 'bob'), await enterAs(setup, 'alice')];
  expect((await send(new Browser(), ui)).status).toBe(401);
  expect((await send(alice.browser, ui)).status).toBe(403);
  const foreign = await send(bob.browser, 'https://evil.example');
  expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([401, null]);
  const allowed = await send(bob.browser, ui);
  expect([allowed.status, JSON.parse(allowed.text)]).toEqual([200, { payloads: [] }]);
  expect(allowed.headers.get('access-control-allow-origin')).toBe(ui);
  expect(allowed.headers.get('access-control-allow-credentials')).toBe('true');
  const preflight = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      origin: ui,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-namespace',
    },
  });
  expect(preflight.headers.get('access-control-allow-headers')).toContain('x-namespace');
});
