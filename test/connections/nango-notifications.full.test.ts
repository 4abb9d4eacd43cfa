/**
 * Who tells that an account was connected: the page, a webhook, or nobody. However many of them are lost, late or come
 * twice, the turn goes on by itself, the tool runs once and with the right token, and Nango keeps one connection.
 */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launchChromium } from '../browsers/chromium.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import type { NangoDouble } from '../servers/nango/nango-double.ts';
import { accountOfAlice, startServiceWithNango, until } from './service-with-nango.ts';
import type { ServiceWithNango } from './service-with-nango.ts';
import { allow, atProvider, visitorAt } from './nango-visitor.ts';
import { timetable } from './timetable.ts';

vi.setConfig({ testTimeout: 90_000 });
const times = timetable('From consent at the provider until the turn has ended (whoever told)');

const temporal = useDevelopmentServer();
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium({ isStrict: true });
});
afterAll(() => browser.close());

/** One question, its page, and the provider in a window beside it. */
async function atTheProvider(setup: ServiceWithNango, title = 'Paint') {
  const waiting = await setup.ask(title);
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  await visitor.sees('Finish in the other window');
  return { waiting, visitor, beside };
}

async function expectOneAccount(setup: ServiceWithNango, kept?: unknown[]): Promise<void> {
  expect(await setup.service.storage.connections.get(accountOfAlice)).toMatchObject({
    status: 'active',
    version: 1,
  });
  expect(kept ?? ['the only one']).toHaveLength(1);
}

test('the page tells, without any webhook, and asks with the account that was chosen', async () => {
  await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
  const { waiting, visitor, beside } = await atTheProvider(setup);
  expect(waiting.question.url).not.toContain('nango');
  const over = times.start('page tells');
  await allow(beside, 'Bob');
  await visitor.sees('Tracker is connected');
  expect(await visitor.page.innerText('main')).toContain('bob@acme.test');
  await setup.expectDone(waiting, 'Paint', 'bob');
  over('Tracker is connected (as bob@acme.test)');
  await expectOneAccount(setup);
});

test('a webhook tells when the page was closed during consent', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'send webhooks to a new address');
  const { waiting, visitor, beside } = await atTheProvider(setup);
  await visitor.page.close();
  const over = times.start('page closed during consent, webhook');
  await allow(beside);
  await setup.expectDone(waiting, 'Paint');
  over('(nothing; the chat goes on)');
  await double.delivered(1);
  expect(double.deliveries[0]?.tries).toEqual([200]);
  await expectOneAccount(setup, double.connections());
});

test('nobody tells, the windows are closed right after consent: it is found, and history did not grow meanwhile', async (context) => {
  await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
  const double = setup.nango.knobs(context, 'count requests');
  const { waiting, visitor, beside } = await atTheProvider(setup);
  await visitor.page.close();
  const looks = () => double.count('GET', '/connections');
  const [before, looked] = [await setup.historyLength(waiting.conversation), looks()];
  // They become rare: the third may be half a minute away.
  await until(() => looks() >= looked + 3, 60_000);
  expect(await setup.historyLength(waiting.conversation)).toBe(before);
  const over = times.start('windows closed after consent, no webhook');
  await allow(beside);
  await until(() => double.connections().length === 1);
  await beside.close();
  await setup.expectDone(waiting, 'Paint');
  over('(nothing; the chat goes on)');
  await expectOneAccount(setup, double.connections());
});

test.for([
  ['the WebSocket is cut', (double: NangoDouble): void => double.cutSockets()],
  ['its word gets lost', (double: NangoDouble): void => void (double.dropSuccessFrame = true)],
] as const)(
  '%s during consent, and no webhook comes: the page notices by itself',
  async ([what, spoil], context) => {
    await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
    const double = setup.nango.knobs(context, 'lose a word');
    const { waiting, visitor, beside } = await atTheProvider(setup);
    spoil(double);
    const over = times.start(`${what}, no webhook`);
    await allow(beside);
    await visitor.sees('Tracker is connected');
    await setup.expectDone(waiting, 'Paint');
    over('Tracker is connected');
    await expectOneAccount(setup, double.connections());
  },
);

test.for([
  ['late', { delayMs: 3_000 }, 1],
  ['twice', 'twice', 2],
  ['only at the second try', 'failFirst', 1],
] as const)('a webhook that comes %s changes nothing more', async ([what, mode, howMany], context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'delay webhooks');
  double.webhook = mode;
  double.webhookRetryMs = [200, 200];
  const { waiting, visitor, beside } = await atTheProvider(setup);
  const over = times.start(`webhook ${what}`);
  await allow(beside);
  await visitor.sees('Tracker is connected');
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is connected');
  await double.delivered(howMany);
  expect(double.deliveries.at(-1)?.tries.at(-1)).toBe(200);
  await expectOneAccount(setup, double.connections());
});

test('webhooks that are replayed or made up change nothing, and the made-up ones are refused', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'replay its webhooks');
  const { waiting, beside } = await atTheProvider(setup);
  const url = `${setup.service.baseUrl}/webhooks/nango`;
  // An account of Bob's that has no owner here.
  const stray = await double.importConnection('bob', { mark: 'stray' });
  const told = { from: 'nango', type: 'auth', operation: 'creation', success: true, provider: 'acme' };
  const payload = { ...told, connectionId: stray, providerConfigKey: 'tracker', tags: {} };
  for (const how of ['wrong-key', 'legacy-only', 'unsigned'] as const)
    expect(await double.forge(url, payload, how), how).toBe(401);
  expect(setup.mcp.calls).toEqual([]);
  const over = times.start('webhook replayed three times');
  await allow(beside);
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is connected');
  await double.delivered(2);
  for (let time = 0; time < 3; time++) expect(await double.replay()).toBe(200);
  await expectOneAccount(setup);
  // Another owner's in the same environment is left alone.
  expect(double.connections().map(({ connectionId }) => connectionId)).toContain(stray);

  // After disconnecting, old news connects nothing again.
  const alice = await setup.service.as('alice');
  expect((await alice.request('DELETE', '/run/v1/connections/tracker')).status).toBe(200);
  expect(await double.replay()).toBe(200);
  expect(await setup.service.storage.connections.get(accountOfAlice)).toBeNull();
});

test.each(['before', 'during', 'after'] as const)('the page is reloaded %s consent', async (when) => {
  await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  if (when === 'before') await visitor.page.reload();
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  if (when === 'during') await visitor.page.reload();
  const over = times.start(`page reloaded ${when} consent`);
  await allow(beside);
  // It may be on its way to the end by itself, and a page that leaves cannot be loaded again.
  if (when === 'after') await visitor.page.reload().catch(() => undefined);
  await visitor.sees('Tracker is connected');
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is connected');
  await visitor.page.reload();
  await visitor.sees('Tracker is connected');
  await expectOneAccount(setup);
});

test('two tabs connect at once: one account stays, and both say so', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'count connections');
  const { waiting, visitor, beside } = await atTheProvider(setup);
  const second = visitorAt(await visitor.context.newPage());
  await second.page.goto(waiting.question.url);
  await second.sees('Connect Tracker');
  const besideToo = await second.pressAndGetWindow('Connect Tracker');
  const over = times.start('two tabs at once');
  // The page of the slower one may learn of the account before it is allowed, and close its window.
  const allowIfOpen = (window: Page) =>
    allow(window).catch((error: unknown) => {
      if (!window.isClosed()) throw error;
    });
  await Promise.all([allowIfOpen(beside), allowIfOpen(besideToo)]);
  await Promise.all([visitor.sees('Tracker is connected'), second.sees('Tracker is connected')]);
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is connected (in both)');
  await until(() => double.connections().length === 1);
  const row = await setup.service.storage.connections.get(accountOfAlice);
  expect(row?.status).toBe('active');
  // What is kept at Nango is what we use.
  await setup.create('Paper').then(({ text }) => expect(text()).toContain('Created.'));
});

test('a double click is one', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'count connections');
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  await visitor.page.locator('[data-is-ready]').waitFor();
  const windows: unknown[] = [];
  visitor.page.on('popup', (opened) => windows.push(opened));
  const opened = visitor.page.waitForEvent('popup');
  // Both clicks reach the page, before the new window takes the focus.
  await visitor.page.getByRole('button', { name: 'Connect Tracker' }).evaluate((button: HTMLElement) => {
    button.click();
    button.click();
  });
  const beside = await opened;
  await atProvider(beside);
  const over = times.start('double click');
  await allow(beside);
  await visitor.sees('Tracker is connected');
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is connected');
  expect(windows).toHaveLength(1);
  await expectOneAccount(setup, double.connections());
});

test('a provider that severs its window from ours does no harm', async () => {
  await using setup = await startServiceWithNango({ temporal });
  setup.nango.provider.severs = true;
  const { waiting, visitor, beside } = await atTheProvider(setup);
  const over = times.start('provider severs the window (COOP)');
  await allow(beside);
  await visitor.sees('Tracker is connected');
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is connected');
});

test('where no window may open, the same page goes there, and the link says how it ended', async () => {
  await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
  const strict = await launchChromium({ isStrict: true, opensNoWindows: true });
  await using _closing = { [Symbol.asyncDispose]: () => strict.close() };
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(strict, waiting.question);
  await visitor.sees('Connect Tracker');
  await visitor.press('Connect Tracker');
  await atProvider(visitor.page);
  const over = times.start('no window may open, no webhook');
  await allow(visitor.page);
  await visitor.page.getByText('You can close this window.').waitFor();
  await setup.expectDone(waiting, 'Paint');
  over('Nango: You can close this window.');
  await visitor.page.goto(waiting.question.url);
  await visitor.sees('Tracker is connected');
  await expectOneAccount(setup);
});

test('it works without scripts', async () => {
  await using setup = await startServiceWithNango({ temporal });
  const context = await browser.newContext({ javaScriptEnabled: false });
  await using _closing = { [Symbol.asyncDispose]: () => context.close() };
  const waiting = await setup.ask('Paint');
  const visitor = visitorAt(await context.newPage());
  await visitor.page.goto(waiting.question.url);
  await visitor.press('Continue as Alice');
  await visitor.sees('Connect Tracker');
  await visitor.press('Connect Tracker');
  await atProvider(visitor.page);
  const over = times.start('no scripts');
  await allow(visitor.page);
  await visitor.page.getByText('You can close this window.').waitFor();
  await setup.expectDone(waiting, 'Paint');
  over('Nango: You can close this window.');
  await visitor.page.goto(waiting.question.url);
  await visitor.sees('Tracker is connected');
});
