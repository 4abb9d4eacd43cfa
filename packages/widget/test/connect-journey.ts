/** From the question to the answer over a second window, as a person goes it. */
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { WidgetPageSetup } from './widget-page.ts';

export const issue = 'Checkout button stays disabled';

/** Bob and Alice begin without an account at Tracker. */
export async function disconnect(setup: WidgetPageSetup, user: 'alice' | 'bob'): Promise<void> {
  const caller = await setup.service.as(user);
  await caller.request('DELETE', '/run/v1/connections/tracker');
}

/** Alice connects in a second window; the answer goes on once, by itself. */
export async function connectJourney(
  setup: WidgetPageSetup,
  { isFramed }: { isFramed: boolean },
): Promise<void> {
  await disconnect(setup, 'alice');
  const { page, view, context, say, leave } = await setup.visit({ isFramed });
  const { calls } = setup.service.tracker;
  const before = calls.length;
  await say('list my open issues');
  const link = view.locator('.card').getByRole('link');
  const [first] = await Promise.all([context.waitForEvent('page'), link.click()]);
  await first.getByRole('button', { name: 'Continue as Alice' }).waitFor();
  expect(await first.evaluate(() => window.opener)).toBe(null);
  await view.getByText('Finish in the other window').waitFor();
  // Closed with nothing done, it changes nothing; the link opens another one.
  await first.close();
  await view.getByText('Waiting for you: Tracker').waitFor();
  const [second] = await Promise.all([context.waitForEvent('page'), link.click()]);
  await connectIn(second);
  // It stays open, and the page behind it has gone on.
  await view.locator('.markdown').getByText(issue).waitFor();
  await second.close();
  expect(await view.locator('.markdown').getByText(issue).count()).toBe(1);
  expect(await view.locator('.settled').allInnerTexts()).toEqual(['Tracker is connected']);
  expect(calls.length - before).toBe(1);
  expect(page.isClosed()).toBe(false);
  await leave();
}

/** Our page, the identity provider and Tracker. */
async function connectIn(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue as Alice' }).click();
  await page.getByRole('button', { name: 'Connect Tracker' }).click();
  await page.getByRole('button', { name: 'Continue as alice' }).click();
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
}
