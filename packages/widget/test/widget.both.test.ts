/** The widget in a real browser, in a page of another origin, against the whole service. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { connectAccount } from '../../../test/service/connect-account.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import {
  declineJourney,
  dismissJourney,
  pointerJourney,
  severalJourney,
  stopJourney,
} from './question-journeys.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let setup: WidgetPageSetup;

beforeAll(async () => {
  browser = await launchChromium();
  setup = await setUpWidgetPage({ browser, temporal });
});
afterAll(async () => {
  await setup.stop();
  await browser.close();
});

const isDaily = inject('suite') === 'daily';

test.runIf(isDaily)('a question that was declined stays as a line, and the agent goes on', () =>
  declineJourney(setup),
);

test.runIf(isDaily)(
  'alice connects in another window, and the answer goes on by itself; a reload in between loses nothing',
  async () => {
    const { page, say, comeBack, leave } = await setup.visit();
    await say('list my open issues');
    const link = page.getByRole('link', { name: 'Connect Tracker' });
    await link.waitFor();
    await comeBack();
    const url = (await link.getAttribute('href')) ?? '';
    await connectAccount('alice', url);
    await page.locator('.settled', { hasText: 'Tracker is connected' }).waitFor();
    const answer = page.locator('.markdown').getByText('Checkout button stays disabled');
    await answer.waitFor();
    expect(await answer.count()).toBe(1);
    await comeBack();
    await answer.waitFor();
    expect(await answer.count()).toBe(1);
    expect(await page.getByText('list my open issues').count()).toBe(1);
    await leave();
  },
);

test.runIf(isDaily)(
  'a form is filled in with the keyboard alone; what is wrong is said at its field',
  async () => {
    const { page, say, leave } = await setup.visit({ user: 'bob' });
    await say('call travel__book_trip {"destination":"Lisbon"}');
    const name = page.getByRole('textbox', { name: 'Traveller' });
    await name.waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).first().click();
    await expect.poll(() => name.evaluate((input) => input.matches(':focus'))).toBe(true);
    expect(await name.getAttribute('aria-invalid')).toBe('true');
    await page.keyboard.type('Ada Lovelace');
    await page.keyboard.press('Tab');
    await page.keyboard.type('not a mail');
    await page.getByRole('button', { name: 'Send', exact: true }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Please fill this in.').first().waitFor();
    // Filled in, it is not lost to one key.
    await name.press('Escape');
    const dismiss = page.getByRole('button', { name: 'Dismiss' });
    await expect.poll(() => dismiss.evaluate((button) => button.matches(':focus'))).toBe(true);
    expect(await name.inputValue()).toBe('Ada Lovelace');
    await page.keyboard.press('Escape');
    await page.locator('.settled').waitFor();
    await leave();
  },
);

test.runIf(isDaily)('several questions at once are cards of their own, and each is answered by itself', () =>
  severalJourney(setup),
);

test.skipIf(isDaily)('a question that is settled under the pointer moves no other one there', () =>
  pointerJourney(setup),
);

test.skipIf(isDaily)(
  'closing a question dismisses it, which is not “not now”: with the button, and with Escape',
  () => dismissJourney(setup),
);

test.runIf(isDaily)('the Stop button ends the turn and closes its question', () => stopJourney(setup));

test.runIf(isDaily)('a message sent while a question waits takes its place', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await say('never mind');
  await page.getByText('You said: never mind').waitFor();
  await page.getByText('Tracker: No longer needed').waitFor();
  await leave();
});

test.skipIf(isDaily)('what happens in one tab is seen in the other, without a word twice', async () => {
  const first = await setup.visit({ user: 'bob' });
  await first.say('hello');
  await first.page.getByText('You said: hello').waitFor();
  const conversation = await first.conversation();
  const second = await setup.visit({
    user: 'bob',
    context: first.context,
    attributes: `conversation="${conversation}"`,
  });
  await second.page.getByText('You said: hello').waitFor();
  await first.say('list my open issues');
  await second.page.locator('.card').waitFor();
  await second.page.getByRole('button', { name: 'Not now' }).click();
  for (const { page } of [first, second]) {
    await page.getByText('Tracker: You said “not now”').waitFor();
    expect(await page.getByText('list my open issues').count()).toBe(1);
  }
  await second.leave();
  await first.leave();
});

test.runIf(isDaily)('what was begun to be written is still there after a reload', async () => {
  const { page, comeBack, say, leave } = await setup.visit({ user: 'bob' });
  await say('hello');
  await page.getByText('You said: hello').waitFor();
  await page.locator('textarea').fill('half a sent');
  await comeBack();
  await expect.poll(() => page.locator('textarea').inputValue()).toBe('half a sent');
  await leave();
});

test.runIf(isDaily)('words of a stranger are shown as words, and lead nowhere by themselves', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  await say(
    '<img src=x onerror="document.title=1"> [x](javascript:alert(1)) ![y](https://a.example/y) https://b.example',
  );
  const answer = page.locator('.markdown').first();
  await answer.getByText('onerror').waitFor();
  expect(await answer.locator('img, script').count()).toBe(0);
  expect(
    await answer
      .locator('a')
      .evaluateAll((links) => links.map((link) => [link.getAttribute('href'), link.getAttribute('rel')])),
  ).toEqual([['https://b.example/', 'noopener noreferrer nofollow']]);
  expect(await page.title()).toBe("Somebody's page");
  await leave();
});

test.skipIf(isDaily)('the page’s language is the widget’s, and its direction too', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob', attributes: 'lang="de" dir="rtl"' });
  await say('list my open issues');
  await page.getByRole('link', { name: 'Tracker verbinden' }).waitFor();
  await page.getByRole('button', { name: 'Nicht jetzt' }).click();
  await page.getByText('Sie haben „nicht jetzt“ gesagt').waitFor();
  await leave();
});

test.skipIf(isDaily)(
  'in a corner of the page it opens on demand, says what waits, and gives the focus back',
  async () => {
    const { page, say, leave } = await setup.visit({ user: 'bob', attributes: 'floating' });
    expect(await page.locator('.panel').isVisible()).toBe(false);
    await page.evaluate(() =>
      (document.querySelector('interlude-chat') as unknown as { open(): void }).open(),
    );
    await expect.poll(() => page.locator('textarea').evaluate((input) => input.matches(':focus'))).toBe(true);
    await say('list my open issues');
    await page.locator('.card').waitFor();
    await page.keyboard.press('Escape');
    const launcher = page.getByRole('button', { name: 'Open the conversation, one question waits for you' });
    await launcher.waitFor();
    await expect.poll(() => launcher.evaluate((button) => button.matches(':focus'))).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Not now' }).click();
    await leave();
  },
);
