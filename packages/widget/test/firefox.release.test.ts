/** The widget in Firefox: everything a person does with it, on another engine than the other tests'. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { launchFirefox } from '../../../test/browsers/firefox.ts';
import type { Launched } from '../../../test/browsers/launch.ts';
import { createOpenAIServer } from '../../../test/servers/openai-server.ts';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { connectJourney, disconnect } from './connect-journey.ts';
import { focusIsKept, isFocused, tabTo } from './keyboard.ts';
import { declineJourney, lostLineJourney, severalJourney, stopJourney } from './question-journeys.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';
import { tripJourney } from './trip-form.ts';

// Every key that is pressed takes its way over the driver's protocol.
vi.setConfig({ testTimeout: 60_000 });

const fetchingMs = 180_000;
const stack = new AsyncDisposableStack();
const temporal = useDevelopmentServer();
let launched: Launched;
let browser: Browser;
let setup: WidgetPageSetup;
let line: TcpProxy;
/** The rest of what the agent `writer` says waits for it. */
let pause = Promise.withResolvers<void>();

beforeAll(async () => {
  launched = await launchFirefox();
  if (launched.kind === 'missing') return void process.stderr.write(`No Firefox: ${launched.why}\n`);
  browser = launched.browser;
  stack.defer(() => browser.close());
  const model = await createOpenAIServer({ reply: () => ({ kind: 'text', chunks: document() }) });
  stack.defer(() => model.stop());
  const env = { MODEL_URL: model.baseURL };
  setup = await setUpWidgetPage({ browser, temporal, env, agents: 'browser-agents.yaml' });
  stack.defer(() => setup.stop());
  line = await startTcpProxy({ to: Number(new URL(setup.service.baseUrl).port) });
  stack.defer(() => line.stop());
}, fetchingMs);
afterAll(() => stack.disposeAsync());
beforeEach(({ skip }) => {
  if (launched.kind === 'missing') skip(launched.why);
});

async function* document(): AsyncGenerator<string> {
  yield 'Words that are **strong** ';
  await pause.promise;
  yield 'and *emphasised*, [a link](https://a.example/x), `code`.\n\n- first\n  1. nested\n- second\n\n';
  yield '> Quoted\n\n```ts\nconst x = 1;\n```\n\n| Id | Title |\n|---|---|\n| 1 | One |\n\n---\n\nThe end.';
}

describe.each([
  { where: 'in the page', isFramed: false },
  { where: 'in a frame of another site', isFramed: true },
])('$where', ({ isFramed }) => {
  test('alice connects in a second window; the answer goes on by itself, once, and nobody asks after the window', () =>
    connectJourney(setup, { isFramed }));
});

test('a question that was declined stays as a line, the agent goes on, and the page is told', () =>
  declineJourney(setup));

test('a form with a field of every kind is filled in with the keyboard alone, corrected where it is wrong, and arrives as typed', async () => {
  const context = await browser.newContext({
    locale: 'en-US',
    timezoneId: 'Europe/Berlin',
    viewport: { width: 900, height: 800 },
  });
  const visitor = await setup.visit({ user: 'bob', context });
  await tripJourney(setup, visitor, { fromDayToTime: [] });
  await visitor.leave(/status of 422/);
  await context.close();
});

test('several questions at once are cards of their own, and each is answered by itself', () =>
  severalJourney(setup));

test('a reload while a question waits, and one while text comes in, lose nothing and repeat nothing', async () => {
  const { page, say, comeBack, leave } = await setup.visit({ user: 'bob' });
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await page.locator('textarea').fill('half a sent');
  await comeBack();
  await page.locator('.card').waitFor();
  await expect.poll(() => page.locator('textarea').inputValue()).toBe('half a sent');
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Tracker: You said “not now”').waitFor();
  expect(await page.locator('.bubble').allInnerTexts()).toEqual(['list my open issues']);
  await leave();

  const writer = await setup.visit({ user: 'bob', attributes: 'agent="writer"' });
  pause = Promise.withResolvers();
  await writer.say('what did you find?');
  await writer.page.locator('strong').waitFor();
  await writer.comeBack();
  await writer.page.locator('strong').waitFor();
  expect(await writer.page.getByText('The end.').count()).toBe(0);
  pause.resolve();
  await writer.page.getByText('The end.').waitFor();
  expect(await writer.page.locator('strong').count()).toBe(1);
  expect(await writer.page.locator('.bubble').allInnerTexts()).toEqual(['what did you find?']);
  await writer.leave();
});

test.each(['cut', 'halfClose'] as const)(
  '%s while a question is open: the page finds out by itself how it ended',
  (mishap) => lostLineJourney(setup, line, mishap),
);

test('the Stop button ends the turn and closes its question', () => stopJourney(setup));

test('Markdown is drawn as it comes in, as elements of ours', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob', attributes: 'agent="writer"' });
  pause = Promise.withResolvers();
  await say('what did you find?');
  await page.locator('.markdown strong').waitFor();
  pause.resolve();
  await page.getByText('The end.').waitFor();
  const elements = ['strong', 'em', 'a', 'p code', 'ul ol li', 'blockquote', 'pre code', 'table td', 'hr'];
  for (const element of elements)
    expect(await page.locator(`.markdown ${element}`).count(), element).not.toBe(0);
  await leave();
});

test('its page’s policy, which allows next to nothing, is kept, and so are words of a stranger', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  await say('<img src=x onerror="document.title=1"> [x](javascript:alert(1)) ![y](https://a.example/y)');
  const answer = page.locator('.markdown').first();
  await answer.getByText('onerror').waitFor();
  expect(await answer.locator('img, script, a').count()).toBe(0);
  // The policy is there, and what is against it is heard of.
  const heard = page.waitForEvent('pageerror', ({ message }) => message.includes('img-src'));
  await page.evaluate(() => window.document.createElement('img').setAttribute('src', 'https://a.example/y'));
  await heard;
  await leave(/img-src/);
});

test('in a corner of the page it opens with the keyboard, and gives the focus back', async () => {
  await disconnect(setup, 'bob');
  const { page, say, leave } = await setup.visit({ user: 'bob', attributes: 'floating' });
  expect(await page.locator('.panel').isVisible()).toBe(false);
  await tabTo(page, page.getByRole('button', { name: 'Open the conversation' }));
  await page.keyboard.press('Enter');
  await expect.poll(() => isFocused(page.locator('textarea'))).toBe(true);
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await page.keyboard.press('Escape');
  const launcher = page.getByRole('button', { name: 'Open the conversation, one question waits for you' });
  await launcher.waitFor();
  await expect.poll(() => isFocused(launcher)).toBe(true);
  await page.keyboard.press('Space');
  await expect.poll(() => isFocused(page.locator('textarea'))).toBe(true);
  await tabTo(page, page.getByRole('button', { name: 'Not now' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByText('Tracker: You said “not now”').waitFor();
  expect(await focusIsKept(page)).toBe(true);
  await leave();
});

test('the element has its own style sheet, and passes the focus on', async () => {
  const { page, leave } = await setup.visit({ user: 'bob' });
  const seen = await page.evaluate(() => {
    const chat = window.document.querySelector('interlude-chat') as HTMLElement;
    const root = chat.shadowRoot as ShadowRoot;
    chat.focus();
    return {
      sheets: root.adoptedStyleSheets.length,
      display: getComputedStyle(root.querySelector('.chat') as Element).display,
      passesOn: root.delegatesFocus,
      focused: root.activeElement?.className,
    };
  });
  expect(seen).toEqual({ sheets: 1, display: 'flex', passesOn: true, focused: 'log' });
  await leave();
});
