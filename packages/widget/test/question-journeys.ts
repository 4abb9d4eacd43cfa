/** Journeys of questions in a page, in any browser. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { declineElsewhere } from './widget-page.ts';
import type { WidgetPageSetup } from './widget-page.ts';

/** It stays as a line, the agent goes on, and the page gets an event. */
export async function declineJourney(setup: WidgetPageSetup): Promise<void> {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  await say('list my open issues');
  const link = page.getByRole('link', { name: 'Connect Tracker' });
  expect(await link.getAttribute('href')).toMatch(/\/auth\/connect\?e=/);
  await page.getByText('Waiting for you: Tracker').waitFor();
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Tracker: You said “not now”').waitFor();
  await page.getByText('Waiting for you').waitFor({ state: 'detached' });
  await expect
    .poll(() => page.evaluate(() => (globalThis as never)['heard']))
    .toMatchObject([
      { type: 'turn-started' },
      { type: 'elicitation', status: 'pending', server: 'tracker' },
      { type: 'elicitation', status: 'decline' },
      { type: 'turn-ended' },
    ]);
  await leave();
}

/** Closed without a decision; who closed it can still connect the account. In a corner, Escape closes one thing at a time. */
export async function dismissJourney(setup: WidgetPageSetup): Promise<void> {
  const { page, say, leave } = await setup.visit({ user: 'bob', attributes: 'floating open' });
  const connect = page.getByRole('link', { name: 'Connect Tracker' });
  await say('list my open issues');
  await connect.waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('Tracker: You dismissed the question').waitFor();
  expect(await connect.getAttribute('href')).toBe(`${setup.service.baseUrl}/connections`);
  await page.getByText('You closed the question about Tracker').waitFor();
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await page.locator('.card').getByRole('button', { name: 'Not now' }).focus();
  await page.keyboard.press('Escape');
  await page.getByText('Tracker: You dismissed the question').nth(1).waitFor();
  expect(await page.locator('.panel').isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  await page.locator('.panel').waitFor({ state: 'hidden' });
  expect(await outcomes(page)).toEqual(['cancel', 'cancel']);
  await leave();
}

async function outcomes(page: Page): Promise<unknown> {
  const heard = await page.evaluate(() => (globalThis as never)['heard'] as { status?: string }[]);
  return heard.flatMap(({ status }) => (status === undefined || status === 'pending' ? [] : [status]));
}

/** Cards of their own, and each is answered by itself. */
export async function severalJourney(setup: WidgetPageSetup): Promise<void> {
  const { page, notNow, leave } = await askThree(setup);
  await notNow('Rome').press('Enter');
  await page.locator('.dock', { hasText: '2 questions wait for you' }).waitFor();
  await page.locator('.settled.decline').first().waitFor();
  expect(await notNow('Oslo').count()).toBe(1);
  await notNow('Oslo').press('Enter');
  await page.locator('.settled.decline').nth(1).waitFor();
  await notNow('Bonn').press('Enter');
  await page.locator('.settled.decline').nth(2).waitFor();
  await page.locator('.dock').waitFor({ state: 'detached' });
  await leave();
}

/** One is settled under the pointer: the others stay where they are, and another press answers none of them. */
export async function pointerJourney(setup: WidgetPageSetup): Promise<void> {
  const { page, notNow, leave } = await askThree(setup);
  const topOf = async (city: string) => (await notNow(city).boundingBox())?.y ?? NaN;
  // They stay for a second and a half, which is not long for a test.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1_000);
  await notNow('Rome').hover();
  const before = await topOf('Bonn');
  await notNow('Rome').click();
  await page.locator('.dock', { hasText: '2 questions wait for you' }).waitFor();
  await page.locator('.settled.decline').first().waitFor();
  expect(Math.abs((await topOf('Bonn')) - before)).toBeLessThan(5);
  await page.mouse.down();
  await page.mouse.up();
  await page.locator('.dock', { hasText: '2 questions wait for you' }).waitFor();
  expect(await notNow('Oslo').count()).toBe(1);
  await page.clock.resume();
  await leave();
}

async function askThree(setup: WidgetPageSetup) {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  await say(
    ['Oslo', 'Rome', 'Bonn']
      .map((destination) => `call travel__book_trip ${JSON.stringify({ destination })}`)
      .join('\n'),
  );
  await page.locator('.dock', { hasText: '3 questions wait for you' }).waitFor();
  const card = (city: string) => page.locator('.card', { hasText: `Your trip to ${city}` });
  return { page, leave, notNow: (city: string) => card(city).getByRole('button', { name: 'Not now' }) };
}

/** The Stop button ends the turn and closes its question. */
export async function stopJourney(setup: WidgetPageSetup): Promise<void> {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  await say('list my open issues');
  await page.locator('.card').waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Tracker: No longer needed').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await leave();
}

/** Its line is lost while it is open: the page finds out by itself how it ended. */
export async function lostLineJourney(
  setup: WidgetPageSetup,
  line: TcpProxy,
  mishap: 'cut' | 'halfClose',
): Promise<void> {
  const { page, say, conversation, leave } = await setup.visit({ user: 'bob', api: line.url });
  await say('list my open issues');
  await page.locator('.card').waitFor();
  line.refuse();
  line[mishap]();
  await page.getByText('Connection lost. Reconnecting…').waitFor();
  await declineElsewhere(setup, await conversation());
  line.accept();
  await page.getByText('Tracker: You said “not now”').waitFor();
  await page.getByText('Connection lost').waitFor({ state: 'detached' });
  expect(await page.locator('.settled').count()).toBe(1);
  expect(await page.getByText('list my open issues').count()).toBe(1);
  await leave();
}
