/** What a bad line does to a conversation on the screen: nothing that lasts. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { declineElsewhere, setUpWidgetPage } from './widget-page.ts';
import { lostLineJourney } from './question-journeys.ts';
import type { WidgetPageSetup } from './widget-page.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let setup: WidgetPageSetup;
let line: TcpProxy;

beforeAll(async () => {
  browser = await launchChromium();
  setup = await setUpWidgetPage({ browser, temporal });
  line = await startTcpProxy({ to: Number(new URL(setup.service.baseUrl).port) });
});
afterAll(async () => {
  await line.stop();
  await setup.stop();
  await browser.close();
});

test.each(['cut', 'halfClose'] as const)(
  '%s while a question is open: the page finds out by itself how it ended',
  (mishap) => lostLineJourney(setup, line, mishap),
);

test('without a network nothing is lost, and with it the conversation goes on', async () => {
  const { page, context, say, conversation, leave } = await setup.visit({ user: 'bob', api: line.url });
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await context.setOffline(true);
  line.cut();
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  await declineElsewhere(setup, await conversation());
  await context.setOffline(false);
  await page.getByText('Tracker: You said “not now”').waitFor();
  await leave();
});

test('a message that did not arrive is said to be so, and sent again on demand, once', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob', api: line.url });
  await say('hello');
  await page.getByText('You said: hello').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  line.refuse();
  line.cut();
  await say('are you there');
  await page.getByText(/Connection lost/).waitFor();
  line.accept();
  await page.getByText('You said: are you there').waitFor();
  expect(await page.locator('.bubble', { hasText: 'are you there' }).count()).toBe(1);
  await leave();
});

test('a message that cannot be sent is given up on demand, and is there to be sent later', async () => {
  const { page, say, conversation, leave } = await setup.visit({ user: 'bob', api: line.url });
  const stop = page.getByRole('button', { name: 'Stop' });
  await say('hello');
  await page.getByText('You said: hello').waitFor();
  await stop.waitFor({ state: 'detached' });
  line.refuse();
  line.cut();
  await say('list my open issues');
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  await stop.click();
  const input = page.locator('textarea');
  await expect.poll(() => input.inputValue()).toBe('list my open issues');
  expect(await page.locator('.bubble').allInnerTexts()).toEqual(['hello']);
  line.accept();
  await input.press('Enter');
  await page.locator('.card').waitFor();
  // That was another attempt, which is over.
  expect(await page.getByText('Connection lost').count()).toBe(0);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Tracker: You said “not now”').waitFor();
  await stop.waitFor({ state: 'detached' });
  const bob = await setup.service.as('bob');
  const { body } = await bob.request('GET', `/run/v1/conversations/${await conversation()}`);
  const { items } = (body as { messages: { items: { role: string }[] } }).messages;
  expect(items.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
  await leave();
});
