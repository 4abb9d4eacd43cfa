/** What people do on a page of `examples/ag-ui`: each kind of question, and a service that is killed in between. */
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { complaintsOf } from '../browsers/findings.ts';
import { inspectPage } from '../browsers/inspect-page.ts';
import type { Example, PageName } from './ag-ui-example.ts';

export function testPage(name: PageName, example: () => Example): void {
  describe(name, () => {
    let context: BrowserContext;
    let page: Page;
    let complaints: string[];

    const card = (title: string) => page.getByRole('group', { name: `Question from ${title}` });
    const press = (label: string) => page.getByRole('button', { name: label, exact: true }).click();
    const said = (text: string) => page.getByRole('article').getByText(text);
    async function say(text: string) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.locator('.composer').getByRole('button', { name: 'Send' }).click();
    }
    /** Clicks a link that opens a window. */
    async function follow(link: string): Promise<Page> {
      const opened = context.waitForEvent('page');
      await page.getByRole('link', { name: link }).click();
      return opened;
    }
    async function connect(popup: Page) {
      await popup.getByRole('button', { name: 'Connect' }).click();
      await popup.getByRole('button', { name: 'Continue as Alice' }).click();
      await popup.getByRole('button', { name: 'Allow' }).click();
    }
    async function fillTrip() {
      const form = card('Travel Desk');
      const day = `${new Date().getUTCFullYear() + 1}-07-02`;
      await form.getByLabel('Traveller').fill('Ada Lovelace');
      await form.getByLabel('Email').fill('ada@example.com');
      await form.getByLabel('Day of departure').fill(day);
      await form.getByLabel('Taxi').fill(`${day}T06:30`);
      await form.getByLabel('Nights').fill('3');
      await form.getByLabel('Class').selectOption('Business');
      await form.getByLabel('Meals on board').selectOption('vegan');
    }
    async function open(user: 'alice' | 'bob', thread = '') {
      await page.goto(`${example().origin}/${name}.html?user=${user}${thread}`);
      await page.getByRole('textbox', { name: 'Message' }).waitFor();
    }

    beforeEach(async () => {
      context = await example().browser.newContext({ locale: 'en', viewport: { width: 900, height: 800 } });
      page = await context.newPage();
      complaints = complaintsOf(page);
    });
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail')
        process.stderr.write(
          `${await page.innerText('body')}\n${complaints.join('\n')}\n${example().output()}\n`,
        );
      await context.close();
    });

    test('an account is connected while the service is killed, and the answer goes on', async () => {
      await open('alice');
      await say('List my open issues in Tracker.');
      await card('Tracker').waitFor();
      expect(await inspectPage(page, `${name} account`)).toEqual([]);
      const popup = await follow('Connect Tracker');
      await popup.getByRole('button', { name: 'Continue as Alice' }).click();
      await popup.getByRole('button', { name: 'Connect' }).waitFor();
      await example().kill();
      await page.getByText('The connection is lost.').waitFor();
      await example().restart();
      await page.getByRole('group', { name: 'Waiting for Tracker' }).waitFor();
      await connect(popup);
      await said('You have 3 open issues').waitFor();
      expect(await said('You have 3 open issues').count()).toBe(1);
      await page.reload();
      await said('You have 3 open issues').waitFor();
      expect(await said('You have 3 open issues').count()).toBe(1);
    });

    test('two calls are approved and refused together', async () => {
      await open('alice');
      await say('Close #2 and #3.');
      await card('Tracker').nth(1).waitFor();
      expect(await inspectPage(page, `${name} approvals`)).toEqual([]);
      await card('Tracker').nth(0).getByRole('button', { name: 'Approve' }).click();
      await page.getByText('sent together with the other answers').waitFor();
      await card('Tracker').nth(1).getByLabel('Reason').fill('still broken');
      await card('Tracker').nth(1).getByRole('button', { name: 'Refuse' }).click();
      await said('still broken').waitFor();
      expect(await card('Tracker').count()).toBe(0);
    });

    test('a form that does not fit is asked again with what was entered; then a page is opened', async () => {
      await open('bob');
      await say('Book a trip to Lisbon.');
      await fillTrip();
      await card('Travel Desk').getByLabel('Budget').fill('5');
      expect(await inspectPage(page, `${name} form`)).toEqual([]);
      await press('Send answer');
      await page.getByRole('alert').getByText('at least 100').waitFor();
      expect(await card('Travel Desk').getByLabel('Traveller').inputValue()).toBe('Ada Lovelace');
      await card('Travel Desk').getByLabel('Budget').fill('500');
      await press('Send answer');
      await said('is booked').waitFor();

      await say('Pay the deposit.');
      const popup = await follow('Open the page');
      await popup.getByRole('button', { name: /^Pay/ }).click();
      await said('is paid').waitFor();
      expect(complaints.filter((text) => !text.startsWith('Lit is in dev mode'))).toEqual([]);
    });

    test('a question is declined, dismissed, or left for another message', async () => {
      await open('bob');
      await say('Book a trip to Lisbon.');
      await press('Not now');
      await said('nothing was booked').waitFor();
      await say('Book a trip to Rome.');
      await press('Dismiss');
      await expect.poll(() => page.getByRole('article').count()).toBeGreaterThan(4);
      await say('Book a trip to Oslo.');
      await card('Travel Desk').waitFor();
      await say('hello');
      await said('Hello!').waitFor();
      expect(await card('Travel Desk').count()).toBe(0);
      expect(complaints.filter((text) => !text.startsWith('Lit is in dev mode'))).toEqual([]);
    });

    test('a turn that waits for a page is stopped', async () => {
      await open('bob');
      await say('List my open issues in Tracker.');
      await follow('Connect Tracker');
      await press('Stop');
      await page.locator('.composer').getByRole('button', { name: 'Send' }).waitFor();
      expect(await page.getByRole('group').count()).toBe(0);
      expect(await page.getByRole('alert').count()).toBe(0);
      await say('hello');
      await said('Hello!').waitFor();
    });

    test('a question that comes while the stream is lost is shown, and its answer reaches every page', async () => {
      await open('bob');
      await say('Close #3.');
      const address = await page.getByRole('link', { name: 'Connect Tracker' }).getAttribute('href');
      await follow('Connect Tracker');
      await page.getByRole('group', { name: 'Waiting for Tracker' }).waitFor();
      // That alone breaks off no open stream.
      await context.setOffline(true);
      await example().kill();
      await page.getByText('The connection is lost.').waitFor();
      await example().restart();

      await using elsewhere = await example().browser.newContext({ locale: 'en' });
      const other = await elsewhere.newPage();
      await other.goto(address as string);
      await other.getByRole('button', { name: 'Continue as Bob' }).click();
      await connect(other);
      await other.goto(page.url());
      const approve = { name: 'Approve', exact: true };
      await other.getByRole('button', approve).waitFor();

      await context.setOffline(false);
      await page.getByRole('button', approve).click();
      await said('closed').first().waitFor();
      await other.getByRole('button', approve).click();
      await other.getByRole('article').getByText('closed').first().waitFor();
    });

    test('a question closes at its deadline, says what to do, and the next message goes on', async () => {
      await example().kill();
      await example().restart({ ELICITATION_TIMEOUT: '15s' });
      try {
        await using elsewhere = await example().browser.newContext({ locale: 'en' });
        const other = await elsewhere.newPage();
        await open('bob');
        await other.goto(page.url());
        await say('Book a trip to Lisbon.');
        await card('Travel Desk')
          .getByText(/^0:1?\d left$/)
          .waitFor();
        // This page does not notice the deadline.
        await page.clock.pauseAt(Date.now() + 1_000);
        await other.reload();
        await other.getByText('Travel Desk got no answer in time').waitFor();
        await other.getByText('nothing was booked').waitFor();
        expect(await other.getByRole('group').count()).toBe(0);
        expect(await inspectPage(other, `${name} expired`)).toEqual([]);

        await press('Not now');
        await page.getByText('Your answer came too late').waitFor();
        await page.clock.resume();
        await said('nothing was booked').waitFor();
        expect(await page.locator('.notice').count()).toBe(1);
        expect(await page.getByRole('alert').count()).toBe(0);
        expect(await card('Travel Desk').count()).toBe(0);
        await say('hello');
        await said('Hello!').waitFor();
        expect(await page.getByText('Your answer came too late').count()).toBe(0);
      } finally {
        await example().kill();
        await example().restart();
      }
    });

    test('a thread is shown to its own user only', async () => {
      await open('alice');
      await say('hello');
      await said('Hello!').waitFor();
      const { hash } = new URL(page.url());
      await page.goto('about:blank');
      await open('bob', hash);
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('article').count()).toBe(0);
    });
  });
}
