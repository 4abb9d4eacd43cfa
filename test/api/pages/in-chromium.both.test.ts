/** What the headers are for, in a browser that obeys them: no frames, no referrers, and a way back that is pressed. */
import type { IncomingMessage } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { startGuardedServer, startServer } from '../../credentials/guarded-server.ts';
import { openPersonsBrowser } from '../../e2e/person.ts';
import { launchChromium } from '../../browsers/chromium.ts';
import { inspectPage } from '../../browsers/inspect-page.ts';
import { vaultServer } from '../../credentials/vault/vault-store.ts';
import { endQuestion } from '../../storage/end-question.ts';
import { setUpPages } from './pages-setup.ts';

let chromium: Browser;
beforeAll(async () => {
  chromium = await launchChromium({ isStrict: true });
});
afterAll(() => chromium.close());

const isDaily = inject('suite') === 'daily';

/** The app that sends people here, and the parameters it gets when they return. */
async function createAttackedPages() {
  const visits: Pick<IncomingMessage, 'url' | 'headers'>[] = [];
  const app = await startServer(({ url, headers }, response) => {
    if (url !== '/favicon.ico') visits.push({ url, headers });
    const framed = `<iframe src="${new URLSearchParams(url?.split('?')[1]).get('frame') ?? ''}"></iframe>`;
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><title>App</title><h1>Welcome back</h1>${url?.includes('frame') ? framed : ''}`);
  });
  const tracker = await startGuardedServer();
  const setup = await setUpPages(tracker.config, {}, [], { returnUrls: [`${app}/chat/`] });
  const person = await openPersonsBrowser(chromium);
  onTestFinished(() => person.leave());
  const home = `${app}/chat/42?tab=open#last`;
  const linkBack = (id: string) => `${setup.link(id)}&${new URLSearchParams({ returnUrl: home }).toString()}`;
  return { ...setup, app, visits, person, home, linkBack };
}

test.runIf(isDaily)(
  'alice declines, connects and looks at her settings, and from each she goes home by a button',
  async () => {
    const { ask, linkBack, person, home, app, visits, publicUrl } = await createAttackedPages();
    for (const id of ['q1', 'q2']) await ask({ id });
    const { host } = new URL(app);
    const goHome = async () => {
      await person.follow(`Back to ${host}`);
      await person.page.getByText('Welcome back').waitFor();
      expect(person.page.url()).toBe(home);
    };

    await person.open(linkBack('q1'));
    await person.press('Continue as Alice');
    await person.sees('Connect Tracker');
    expect(await person.text()).not.toContain('Back to');
    await person.press('Not now');
    await person.sees('Not now, then');
    await goHome();

    await person.open(linkBack('q1'));
    await person.sees('You said “not now”');
    await goHome();

    await person.open(linkBack('q2'));
    await person.press('Connect Tracker');
    await person.sees('Tracker is connected');
    await goHome();

    await person.open(`${publicUrl}/connections?${new URLSearchParams({ returnUrl: home }).toString()}`);
    await person.sees('Your connections');
    await goHome();

    expect(visits).toHaveLength(4);
    // The app learns nothing of where they have been.
    expect(visits.map(({ headers }) => headers.referer)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  },
);

test.runIf(isDaily)('a way back to somewhere else is said to be none', async () => {
  const { ask, link, person, visits } = await createAttackedPages();
  await ask();
  await person.open(`${link('q1')}&returnUrl=https://evil.example/`);
  await person.sees('This link leads back to a place that is not allowed');
  expect(visits).toEqual([]);
});

const trip = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Traveller', description: 'As in the passport' },
    nights: { type: 'integer', title: 'Nights' },
    day: { type: 'string', format: 'date', title: 'Day' },
    class: { type: 'string', title: 'Class', enum: ['second', 'first'] },
    pets: { type: 'boolean', title: 'Pets' },
    meals: { type: 'array', title: 'Meals', items: { type: 'string', enum: ['breakfast', 'dinner'] } },
  },
  required: ['name'],
};
const ofAServer = {
  trigger: 'mcp_elicitation',
  agent: 'assistant',
  server: 'tracker',
  serverTitle: 'Tracker',
};

test.skipIf(isDaily)(
  'each page fits a phone, at twice the size too, and axe finds nothing',
  { timeout: 120_000 },
  async () => {
    const notes = vaultServer('http://127.0.0.1:9/notes', { name: 'notes', title: 'Notes' });
    const tracker = await startGuardedServer();
    const { ask, link, publicUrl, storage } = await setUpPages(tracker.config, {}, [notes]);
    for (const id of ['open', 'given', 'expired']) await ask({ id });
    await ask({ id: 'key', server: 'notes' });
    await ask({ id: 'bobs', user: 'bob' });
    const asked = { message: 'Where to, and for how long?', context: ofAServer };
    await ask({
      id: 'form',
      server: null,
      request: { ...asked, mode: 'form', requestedSchema: trip } as never,
    });
    await ask({
      id: 'page',
      server: null,
      request: { ...asked, mode: 'url', url: 'https://pay.example/' } as never,
    });
    await endQuestion(storage, 'expired', 'expired');
    const context = await chromium.newContext({ locale: 'en', timezoneId: 'Asia/Kathmandu' });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    const problems: string[] = [];
    const inspect = async (name: string) => problems.push(...(await inspectPage(page, name)));
    const open = async (path: string) => {
      await page.goto(publicUrl + path);
      await inspect(path.slice(1).replaceAll(/\W/g, '-') || 'home');
    };
    await page.goto(link('given'));
    await page.getByRole('button', { name: 'Continue as Alice' }).click();
    await page.getByRole('button', { name: 'Connect Tracker' }).click();
    await page.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
    await inspect('connected');
    for (const path of ['/', '/connections', '/auth/connect?e=unknown', '/auth/connect?e=bobs'])
      await open(path);
    for (const id of ['open', 'key', 'expired']) await open(`/auth/connect?e=${id}`);
    for (const id of ['form', 'page']) await open(`/auth/answer?e=${id}`);
    await page.goto(`${publicUrl}/auth/connect?e=key`);
    const until = page.locator('time');
    const deadline = new Date((await until.getAttribute('datetime')) ?? '');
    expect(await until.innerText()).toBe(
      deadline.toLocaleTimeString('en-GB', { timeStyle: 'short', timeZone: 'Asia/Kathmandu' }),
    );
    await page.getByRole('button', { name: 'Not now' }).click();
    await inspect('declined');
    await open('/connections/disconnect?server=tracker');
    expect(problems).toEqual([]);
  },
);

test.runIf(isDaily)(
  'a time is entered in the time zone of the person, or in UTC where scripts are off',
  async () => {
    const contents: unknown[] = [];
    const { ask, link } = await setUpPages(undefined, {
      async answer(_, { response }) {
        contents.push(response.content);
        return { kind: 'recorded', outcome: 'accept', duplicate: false };
      },
    });
    const time = { type: 'string', format: 'date-time' };
    const requestedSchema = {
      type: 'object',
      properties: {
        start: { ...time, title: 'Start' },
        end: { ...time, title: 'End', default: '2026-11-22T10:00:30Z' },
      },
    };
    const request = { mode: 'form', message: 'When?', context: ofAServer, requestedSchema } as never;
    for (const [id, javaScriptEnabled] of [['with', true] as const, ['without', false] as const]) {
      await ask({ id, server: null, request });
      const context = await chromium.newContext({ javaScriptEnabled, timezoneId: 'Asia/Kathmandu' });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      await page.goto(link(id));
      await page.getByRole('button', { name: 'Continue as Alice' }).click();
      const end = await page.getByLabel('End').inputValue();
      expect(end).toBe(javaScriptEnabled ? '2026-11-22T15:45:30' : '2026-11-22T10:00:30');
      expect(await page.getByText('Time in UTC.').count()).toBe(javaScriptEnabled ? 0 : 2);
      const send = page.getByRole('button', { name: 'Send' });
      await page.getByLabel('Start').pressSequentially('11');
      // Half a date would be sent as none. Only the script can tell.
      if (javaScriptEnabled) await send.click();
      expect(await page.getByLabel('Start').evaluate((input) => document.activeElement === input)).toBe(true);
      await page.getByLabel('Start').fill('2026-11-22T09:00');
      await send.click();
      await page.getByRole('heading', { name: 'Answered' }).waitFor();
    }
    expect(contents).toEqual([
      { start: '2026-11-22T03:15:00.000Z', end: '2026-11-22T10:00:30Z' },
      { start: '2026-11-22T09:00:00Z', end: '2026-11-22T10:00:30Z' },
    ]);
  },
);

test.runIf(isDaily)('no page is shown in a frame of another site, signed in or not', async () => {
  const { ask, link, app, publicUrl } = await createAttackedPages();
  await ask();
  const context = await chromium.newContext();
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(link('q1'));
  await page.getByRole('button', { name: 'Continue as Alice' }).click();
  await page.getByRole('heading', { name: 'Connect Tracker' }).waitFor();
  for (const framed of [link('q1'), `${publicUrl}/connections`, `${publicUrl}/auth/done?e=q1`]) {
    const refused = page.waitForEvent('console', (line) => /frame-ancestors/.test(line.text()));
    await page.goto(`${app}/?${new URLSearchParams({ frame: framed }).toString()}`);
    expect((await refused).text()).toMatch(/frame-ancestors 'none'/);
    const inside = page.frames().find((frame) => frame !== page.mainFrame());
    expect(inside?.url()).toBe('chrome-error://chromewebdata/');
  }
});
