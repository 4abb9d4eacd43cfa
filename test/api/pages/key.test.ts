/** Entering an API key over plain HTTP: on a question and from the settings page, and what is refused. */
import { expect, test } from 'vitest';
import { goodKey, startTracker, vaultServer } from '../../credentials/vault/vault-store.ts';
import { Browser, words } from './browser.ts';
import type { Shown } from './browser.ts';
import { setUpPages } from './pages-setup.ts';
import { endQuestion } from '../../storage/end-question.ts';
import { timesScript } from '../../../src/api/pages/elements.ts';

const alices = { tenant: 'demo', server: 'tracker', user: 'alice' };
const wrongKey = 'trk_this_is_not_the_right_one';
const away = vaultServer('http://127.0.0.1:9/mcp');

type PagesSetup = Awaited<ReturnType<typeof setUpPages>>;
type Tracker = Awaited<ReturnType<typeof startTracker>>;

async function asked(more: Parameters<Tracker['of']>[0] = {}, deps: Parameters<typeof setUpPages>[1] = {}) {
  const tracker = await startTracker();
  const setup = await setUpPages(tracker.of(more), deps);
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const enter = (key: string, changes: Record<string, string> = {}) =>
    browser.press(page, { action: 'connect', key }, changes);
  const row = () => setup.storage.connections.get(alices);
  return { ...setup, tracker, browser, page, enter, row };
}

function csrfOf(page: Shown): string {
  return /name="csrf"\s+value="([^"]+)"/.exec(page.text)?.[1] ?? '';
}

function field(page: Shown): string {
  return /<input\s+id="key"[^>]*>/s.exec(page.text)?.[0] ?? '';
}

async function settings(setup: PagesSetup, user = 'alice') {
  const browser = new Browser();
  const signIn = await browser.open(`${setup.publicUrl}/connections`);
  const page = await browser.press(signIn, { user });
  const post = (
    fields: Record<string, string>,
    origin: string | undefined = setup.publicUrl,
    from: Browser = browser,
  ) =>
    from.post(
      `${setup.publicUrl}/connections`,
      { server: 'tracker', action: 'connect', csrf: csrfOf(page), ...fields },
      origin,
    );
  return { browser, page, post };
}

test('the question has a field for the key, and says who asks, where it goes and where to find it', async () => {
  const { page } = await asked({
    vault: { header: 'authorization', check: true, hint: 'In Tracker, under Settings → API.' },
  });
  expect(page.status).toBe(200);
  for (const said of [
    'Connect Tracker',
    'Asked by Assistant',
    'Server tracker.example.com',
    'Your API key for Tracker',
    'In Tracker, under Settings → API.',
    'Not now',
    'Signed in as Alice',
  ])
    expect(words(page)).toContain(said);
  for (const attribute of [
    'type="password"',
    'autocomplete="off"',
    'spellcheck="false"',
    'maxlength="4500"',
    'required',
  ])
    expect(field(page)).toContain(attribute);
  expect(page.text).toContain('<label for="key">');
  const described = /aria-describedby="([^"]+)"/.exec(field(page))?.[1]?.split(' ') ?? [];
  expect(described).toEqual(['key-hint', 'key-use']);
  for (const id of described) expect(page.text).toContain(`id="${id}"`);
  expect(field(page)).not.toMatch(/value=|aria-invalid|autofocus/);
  expect(page.text.replace(timesScript.markup, '')).not.toMatch(/<script|style=|\son\w+="/i);
});

test('a good key is tried once and kept; every turn that waits is told, and loading the page again sends nothing again', async () => {
  const { enter, tracker, confirmed, storage, row, browser, log } = await asked();
  const done = await enter(`  ${goodKey} `);
  expect(done.trail.map((url) => new URL(url).pathname)).toEqual(['/auth/done']);
  expect(words(done)).toContain('Tracker is connected');
  expect(words(done)).toContain('Connected as key ending in …ab12');
  expect(await row()).toMatchObject({ store: 'vault', version: 1, account: 'key ending in …ab12' });
  expect(confirmed).toEqual([[alices, 1]]);
  expect(tracker.requests.filter(({ method }) => method === 'tools/list')).toHaveLength(1);
  expect(tracker.runs).toEqual([]);
  expect(await storage.audit.ofElicitation('q1')).toMatchObject([
    { action: 'connected', actor: 'alice', detail: 'tracker', address: '127.0.0.1' },
  ]);
  const before = tracker.requests.length;
  expect(words(await browser.open(done.url))).toContain('Tracker is connected');
  expect(tracker.requests).toHaveLength(before);
  expect(log.join()).not.toContain(goodKey);
});

test('the key is nowhere but sealed: not in an address, a page, the log, the audit or the database', async () => {
  const { enter, dump, log, browser, publicUrl } = await asked();
  const pages = [await enter(wrongKey), await enter(goodKey), await browser.open(`${publicUrl}/connections`)];
  const kept = JSON.stringify(dump());
  expect(kept).toContain('key ending in …ab12');
  for (const text of [
    kept,
    log.join(),
    ...pages.flatMap(({ text: page, url, trail }) => [page, url, ...trail]),
  ]) {
    expect(text).not.toContain(goodKey);
    expect(text).not.toContain(wrongKey);
  }
});

test.each([
  ['', 'Enter the key.'],
  ['Bearer abc', 'There is a space or a line break in this key.'],
  ['schlüssel', 'There is a character in this key that keys do not have.'],
  ['x'.repeat(4_500), 'it has 4500 characters, and 4096 are the most'],
  ['€'.repeat(4_500), 'it has 4500 characters, and 4096 are the most'],
  [wrongKey, 'Tracker does not accept this key.'],
])(
  'the page says in place what is wrong with %j, does not send it back, and takes another',
  async (entered, why) => {
    const { enter, browser, row, confirmed, answers } = await asked();
    const again = await enter(entered);
    expect([again.status, again.url.endsWith('/auth/answer')]).toEqual([422, true]);
    expect(/<p class="problem" id="key-problem">([^<]*)/.exec(again.text)?.[1]).toContain(why);
    expect(again.text).toMatch(/<title>Not connected yet: Connect Tracker<\/title>/);
    expect(field(again)).toMatch(/aria-describedby="key-problem key-use"/);
    expect(field(again)).toMatch(/aria-invalid="true" autofocus/);
    expect(field(again)).not.toContain('value=');
    expect(again.text).not.toContain(entered === '' ? '<input value' : entered);
    expect(words(again)).toContain('Asked by Assistant');
    expect([await row(), confirmed, answers]).toEqual([null, [], []]);
    const done = await browser.press(again, { action: 'connect', key: goodKey });
    expect(words(done)).toContain('Tracker is connected');
  },
);

test('a server that is away is no verdict on the key: nothing is kept, and one can try again', async () => {
  const { enter, tracker, browser, row, log } = await asked();
  tracker.mood = { kind: 'answers', status: 503, body: 'secret of the server' };
  const again = await enter(goodKey);
  expect(again.status).toBe(502);
  expect(words(again)).toContain('could not be tried at Tracker right now, and was not kept');
  expect(again.text).not.toContain('secret of the server');
  // Ports and tokens of the page may have any digits.
  expect(words(again)).not.toMatch(/operator|503/);
  expect(await row()).toBeNull();
  const logged = log.find((line) => line.includes('an API key was not kept')) ?? '';
  expect(JSON.parse(logged)).toMatchObject({
    server: 'tracker',
    elicitationId: 'q1',
    reason: expect.stringContaining('HTTP 503'),
  });
  tracker.mood = { kind: 'works' };
  expect(words(await browser.press(again, { action: 'connect', key: goodKey }))).toContain(
    'Tracker is connected',
  );
});

test('the operator reads in which header a key was refused', async () => {
  const { enter, log } = await asked({ vault: { header: 'x-api-key', check: true } });
  await enter(goodKey);
  const logged = log.find((line) => line.includes('an API key was not kept')) ?? '';
  expect(JSON.parse(logged)).toMatchObject({
    reason: 'it answered HTTP 401 to a key in its header x-api-key',
  });
  expect(logged).not.toContain(goodKey);
});

test('“Not now” declines, whatever is in the field', async () => {
  const { browser, page, answers, tracker, row } = await asked();
  const declined = await browser.press(page, { action: 'decline', key: goodKey });
  expect(words(declined)).toContain('Not now, then');
  expect(answers).toEqual([{ id: 'q1', action: 'decline', user: 'alice' }]);
  expect([await row(), tracker.requests]).toEqual([null, []]);
});

test('a form without the field shows the field', async () => {
  const { browser, page, tracker } = await asked();
  const shown = await browser.press(page, { action: 'connect' });
  expect([shown.status, field(shown) !== '']).toEqual([200, true]);
  expect(shown.text).not.toContain('key-problem');
  expect(tracker.requests).toEqual([]);
});

test('only the person who was asked, from our own page, gives a key; nothing is even tried otherwise', async () => {
  const { enter, browser, page, publicUrl, tracker, openAs, link, storage, row } = await asked();
  const fields = { e: 'q1', csrf: csrfOf(page), action: 'connect', key: goodKey };
  const url = `${publicUrl}/auth/connect`;
  expect((await enter(goodKey, { csrf: 'x' })).status).toBe(403);
  expect((await browser.post(url, fields, 'https://evil.example')).status).toBe(403);
  expect((await browser.post(url, fields)).status).toBe(403);
  expect((await new Browser().post(url, fields, publicUrl)).status).toBe(403);
  const bob = await openAs('bob');
  expect(words(bob.page)).toContain('This question is for another person');
  const settingsOfBob = await bob.browser.open(`${publicUrl}/connections`);
  const asBob = await bob.browser.post(url, { ...fields, csrf: csrfOf(settingsOfBob) }, publicUrl);
  expect([asBob.status, words(asBob)]).toEqual([403, expect.stringContaining('another person')]);
  await browser.open(`${link('q1')}&action=connect&key=abc&csrf=${csrfOf(page)}`);
  expect([tracker.requests, await row()]).toEqual([[], null]);
  const audited = await storage.audit.ofElicitation('q1');
  expect(new Set(audited.map(({ action }) => action))).toEqual(new Set(['refused']));
  expect(JSON.stringify(audited)).not.toContain(goodKey);
});

test('a question that is over takes no key', async () => {
  const { enter, storage, tracker, row } = await asked();
  await endQuestion(storage, 'q1', 'cancel');
  expect(words(await enter(goodKey))).toContain('This question is closed');
  expect([tracker.requests, await row()]).toEqual([[], null]);
});

test('who came with a way back keeps it through a wrong key and a good one', async () => {
  const back = 'https://app.example.com/chat';
  const tracker = await startTracker();
  const setup = await setUpPages(tracker.of(), {}, [], { returnUrls: ['https://app.example.com/'] });
  await setup.ask();
  const browser = new Browser();
  const returnUrl = new URLSearchParams({ returnUrl: back }).toString();
  const signIn = await browser.open(`${setup.link('q1')}&${returnUrl}`);
  const wrong = await browser.press(await browser.press(signIn, { user: 'alice' }), {
    action: 'connect',
    key: 'x',
  });
  expect(wrong.status).toBe(422);
  const done = await browser.press(wrong, { action: 'connect', key: goodKey });
  expect(words(done)).toContain('Tracker is connected');
  expect(done.text).toContain(`href="${back}"`);

  const form = await browser.open(`${setup.publicUrl}/connections/key?server=tracker&${returnUrl}`);
  const again = await browser.press(form, { action: 'connect', key: goodKey });
  expect(again.url).toBe(`${setup.publicUrl}/connections?connected=tracker&${returnUrl}`);
});

test('a key that lacks permissions is asked for with those it has to have', async () => {
  const tracker = await startTracker();
  const setup = await setUpPages(tracker.of());
  await setup.ask({
    request: {
      message: 'Your API key for Tracker lacks permissions. Enter one that has them to list issues.',
      context: {
        trigger: 'credential_required',
        agent: 'assistant',
        server: 'tracker',
        serverTitle: 'Tracker',
        host: 'tracker.example.com',
        reason: 'insufficient_scope',
        scopes: ['issues:write'],
      },
    },
  });
  const { page } = await setup.openAs('alice');
  expect(words(page)).toMatch(/Connect Tracker again Your API key for Tracker lacks permissions/);
  expect(words(page)).toContain('Permissions issues:write Your key has to have them');
});

test('from the settings page a key is entered on a page of its own, and replaced there', async () => {
  const other = 'trk_another_key_of_hers_zz99';
  const tracker = await startTracker({ accepted: [`Bearer ${goodKey}`, `Bearer ${other}`] });
  const setup = await setUpPages(tracker.of());
  const { browser, page } = await settings(setup);
  const { host } = new URL(tracker.config.url);
  expect(words(page)).toContain(`Tracker ${host} · API key Not connected Connect Tracker`);
  const form = await browser.open(`${setup.publicUrl}/connections/key?server=tracker`);
  expect(words(form)).toContain('Connect Tracker Agents use Tracker with an API key of yours.');
  const wrong = await browser.press(form, { action: 'connect', key: wrongKey });
  expect([wrong.status, field(wrong).includes('aria-invalid')]).toEqual([422, true]);
  const done = await browser.press(wrong, { action: 'connect', key: goodKey });
  expect(done.url).toBe(`${setup.publicUrl}/connections?connected=tracker`);
  expect(words(done)).toContain('Tracker is connected as key ending in …ab12');
  expect(words(done)).toMatch(
    /Connected as key ending in …ab12 Since .* Replace key Tracker Disconnect Tracker/,
  );
  const replace = await browser.open(`${setup.publicUrl}/connections/key?server=tracker`);
  expect(words(replace)).toMatch(
    /Replace your key for Tracker The new key takes the place of the one before.* Now key ending in …ab12/,
  );
  const replaced = await browser.press(replace, { action: 'connect', key: other });
  expect(words(replaced)).toContain('Tracker is connected as key ending in …zz99');
  expect(setup.confirmed).toEqual([
    [alices, 1],
    [alices, 2],
  ]);
  expect(await setup.storage.audit.ofElicitation('')).toMatchObject([
    { action: 'connected', actor: 'alice', detail: 'tracker' },
    { action: 'connected', actor: 'alice', detail: 'tracker' },
  ]);
});

test('on the settings page, too, only a form of ours counts, and only for what is theirs', async () => {
  const tracker = await startTracker();
  const shared = tracker.of({ name: 'shared', credentialScope: 'project' });
  const oauth = { ...tracker.of({ name: 'wiki' }), store: 'oauth' as const };
  const setup = await setUpPages(tracker.of(), {}, [shared, oauth]);
  const { browser, post } = await settings(setup);
  const bob = await settings(setup, 'bob');
  const key = goodKey;
  expect((await post({ key, csrf: 'x' })).status).toBe(403);
  expect((await post({ key, csrf: csrfOf(bob.page) })).status).toBe(403);
  expect((await post({ key }, 'https://evil.example')).status).toBe(403);
  expect((await post({ key }, setup.publicUrl, new Browser())).status).toBe(403);
  expect((await post({ key, server: 'shared' })).status).toBe(404);
  expect((await post({ key, server: 'unknown' })).status).toBe(404);
  // Where no key is wanted, it is no business of ours.
  await post({ key, server: 'wiki' });
  for (const server of ['shared', 'unknown', 'wiki', '%00']) {
    const page = await browser.open(`${setup.publicUrl}/connections/key?server=${server}`);
    expect([server, page.url]).toEqual([server, `${setup.publicUrl}/connections`]);
  }
  expect((await new Browser().open(`${setup.publicUrl}/connections/key?server=tracker`)).text).not.toContain(
    'id="key"',
  );
  expect(setup.dump()['connections']).toEqual([]);
  expect(tracker.requests.filter(({ headers }) => 'authorization' in headers)).toEqual([]);
});

test('a refused key is shown as what it is, and disconnecting says what is left to do', async () => {
  const tracker = await startTracker();
  const setup = await setUpPages(tracker.of());
  const { browser, page, post } = await settings(setup);
  await post({ key: goodKey });
  await setup.storage.connections.markBroken(alices, 1, 'rejected');
  expect(words(await browser.open(page.url))).toMatch(
    /Not working Tracker does not accept this key any more\./,
  );
  const confirm = await browser.open(`${setup.publicUrl}/connections/disconnect?server=tracker`);
  expect(words(confirm)).toContain('Agents will no longer be able to use your key ending in …ab12');
  const gone = await browser.press(confirm, { action: 'disconnect' });
  expect(words(gone)).toContain('Your key is forgotten here. At Tracker it is still good: delete it there');
  expect(setup.dump()['connections']).toMatchObject([{ status: 'removed', sealed: '', account: null }]);
});

test('markup in a title or a hint is shown, not obeyed', async () => {
  const attack = `"><script>alert(1)</script><img src=x onerror='alert(1)'>`;
  const setup = await setUpPages({
    ...away,
    title: attack,
    vault: { header: 'authorization', check: true, hint: attack },
  });
  await setup.ask();
  const { browser, page } = await setup.openAs('alice');
  const own = await browser.open(`${setup.publicUrl}/connections/key?server=tracker`);
  const failed = await browser.press(own, { action: 'connect', key: attack.replaceAll(' ', '') });
  expect([page.status, own.status, failed.status]).toEqual([200, 200, 502]);
  for (const { text } of [page, own, failed]) {
    expect(text.replace(timesScript.markup, '')).not.toMatch(/<script|<img/);
    expect(text.split('&lt;script&gt;').length).toBeGreaterThan(3);
  }
});
