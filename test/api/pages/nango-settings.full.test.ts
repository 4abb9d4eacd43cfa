/** Connecting by Nango without being asked: the settings page, and the page that leads there. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { allow, deny } from '../../connections/nango-visitor.ts';
import { alices, setUpNangoPages, isReady, opensWindow } from './nango-pages-setup.ts';
import type { NangoPagesSetup } from './nango-pages-setup.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium({ isStrict: true });
});
afterAll(() => browser.close());

/** On the page that leads there, from any page before it. */
async function onTheWay(setup: NangoPagesSetup, link: 'Connect' | 'Reconnect' = 'Connect', options = {}) {
  const person = await setup.openBrowserAs('Alice', browser, `${setup.publicUrl}/connections`, options);
  await person.sees('Your connections');
  await person.follow(`${link} Tracker`);
  await person.sees(link === 'Connect' ? 'Connect Tracker' : 'Connect Tracker again');
  return person;
}

test('alice connects, connects again as somebody else, and disconnects', async () => {
  const setup = await setUpNangoPages();
  await setup.ask();
  const person = await onTheWay(setup);
  await isReady(person);
  const popup = await opensWindow(person, 'Connect Tracker');
  await person.sees('Finish in the other window');
  await allow(popup);
  await person.sees('Your connections');
  expect(await person.text()).toContain('Tracker is connected as alice');
  // The question that was open has its account, too.
  expect(setup.confirmed).toContainEqual([alices, 1]);

  await person.follow('Reconnect Tracker');
  await person.sees('Connect Tracker again');
  expect(await person.text()).toMatch(/connected as alice/);
  await allow(await opensWindow(person, 'Connect Tracker'), 'Bob');
  await person.sees('Your connections');
  expect(await person.text()).toContain('Tracker is connected as bob');
  expect(setup.nango.connections()).toHaveLength(1);

  await person.follow('Disconnect Tracker');
  await person.press('Disconnect Tracker');
  await person.sees('Tracker is disconnected');
  expect(setup.nango.connections()).toEqual([]);
});

test('a page that was left open while it was connected elsewhere shows so', async () => {
  const setup = await setUpNangoPages();
  const person = await onTheWay(setup);
  const other = await person.page.context().newPage();
  await other.goto(person.page.url());
  await person.page.bringToFront();
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Your connections');
  await other.getByText('Tracker is connected as alice').waitFor();
});

test('loading the page again does not take an older account for a new one', async () => {
  const setup = await setUpNangoPages();
  const person = await onTheWay(setup);
  await allow(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Your connections');
  await person.follow('Reconnect Tracker');
  await isReady(person);
  await person.page.reload();
  await isReady(person);
  await person.page.waitForResponse((response) => response.url().endsWith('/look'));
  await person.sees('Connect Tracker again');
});

test('who denies access, or whose provider fails, can try again or leave it', async () => {
  const setup = await setUpNangoPages();
  const person = await onTheWay(setup);
  await deny(await opensWindow(person, 'Connect Tracker'));
  await person.sees('Tracker was not connected');
  setup.nango.provider.refuseCodes = true;
  await allow(await opensWindow(person, 'Try again'));
  await person.sees('Tracker could not be connected');
  await person.follow('Your connections');
  await person.sees('Your connections');
  expect(await person.text()).toContain('Not connected');
});

test('without JavaScript it works in one window, and the settings show what came of it', async () => {
  const setup = await setUpNangoPages();
  const person = await onTheWay(setup, 'Connect', { scripts: false });
  await person.press('Connect Tracker');
  await allow(person.page);
  await person.page.getByText('close this window').waitFor();
  await person.open(`${setup.publicUrl}/connections/connect?server=tracker`);
  await person.press('Connect Tracker');
  await person.sees('Your connections');
  expect(await person.text()).toContain('Tracker is connected as alice');
  expect(setup.nango.connections()).toHaveLength(1);
});

test('while Nango is away the page says so and offers the way back', async () => {
  const setup = await setUpNangoPages();
  await setup.nango.down();
  const person = await onTheWay(setup);
  await isReady(person);
  await person.press('Connect Tracker');
  await person.sees('Tracker could not be connected');
  await setup.nango.up();
  await allow(await opensWindow(person, 'Try again'));
  await person.sees('Your connections');
});

test('“Not now” leads back, from the page and from the window', async () => {
  const setup = await setUpNangoPages();
  const person = await onTheWay(setup);
  const popup = await opensWindow(person, 'Connect Tracker');
  const closed = popup.waitForEvent('close');
  await person.follow('Not now');
  await person.sees('Your connections');
  await closed;
  await person.follow('Connect Tracker');
  await person.follow('Not now');
  await person.sees('Your connections');
});

test('the page of what is not kept at Nango leads to the settings', async () => {
  const setup = await setUpNangoPages();
  const person = await setup.openBrowserAs('Alice', browser, `${setup.publicUrl}/connections`);
  for (const query of ['', '?server=nothing', '?server=..']) {
    await person.open(`${setup.publicUrl}/connections/connect${query}`);
    await person.sees('Your connections');
  }
});
