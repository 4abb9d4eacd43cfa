/** Question cards under the hands of people: opened otherwise, pressed twice, filled in wrongly, on machines whose clock is wrong. */
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { startOffice } from '../../../test/servers/office-server.ts';
import type { Office } from '../../../test/servers/office-server.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { disconnect } from './connect-journey.ts';
import { isFocused } from './keyboard.ts';
import { setUpWidgetPage } from './widget-page.ts';
import type { WidgetPageSetup, Visitor } from './widget-page.ts';

const stack = new AsyncDisposableStack();
const temporal = useDevelopmentServer();
let browser: Browser;
let office: Office;
let setup: WidgetPageSetup;
/** Where questions do not wait for long. */
let hasty: WidgetPageSetup;

beforeAll(async () => {
  browser = await launchChromium();
  stack.defer(() => browser.close());
  office = await startOffice();
  stack.defer(() => office.stop());
  const setting = { browser, temporal, agents: 'journey-agents.yaml' };
  setup = await setUpWidgetPage({ ...setting, env: { OFFICE_URL: office.config.url } });
  stack.defer(() => setup.stop());
  hasty = await setUpWidgetPage({
    ...setting,
    env: { OFFICE_URL: office.config.url, ELICITATION_TIMEOUT: '12s' },
  });
  stack.defer(() => hasty.stop());
});
afterAll(() => stack.disposeAsync());

interface Asked extends Visitor {
  card: Locator;
  /** How often an answer was sent. */
  answers(): number;
}

async function askedFor(
  text: string,
  options: Parameters<WidgetPageSetup['visit']>[0] = {},
  on = setup,
): Promise<Asked> {
  const visitor = await on.visit({ user: 'bob', ...options });
  let count = 0;
  visitor.page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().endsWith('/elicitation-responses')) count++;
  });
  await visitor.say(text);
  const card = visitor.view.locator('.card');
  await card.waitFor();
  return { ...visitor, card, answers: () => count };
}

const page = 'call office__show {"url":"https://office.example/desk"}';

function askedToFill(properties: object, required: string[] = [], on = setup): Promise<Asked> {
  office.form = { type: 'object', properties, required };
  return askedFor('call office__fill', {}, on);
}

const say = ({ view }: Asked, text: string) => view.locator('.markdown').getByText(text).waitFor();
const press = ({ card }: Asked, name: string) => card.getByRole('button', { name }).click();

describe('a page of the server’s own', () => {
  test('that is opened with the middle button is opened, which is the consent', async () => {
    const visitor = await askedFor(page);
    const { context, card, leave } = visitor;
    const link = card.getByRole('link');
    // A name that is looked up in vain may keep the browser from showing the page for half a minute.
    await context.route('https://office.example/**', (route) => route.fulfill({ body: 'The desk' }));
    const [opened] = await Promise.all([context.waitForEvent('page'), link.click({ button: 'middle' })]);
    await say(visitor, 'shown: accept');
    expect(visitor.answers()).toBe(1);
    await opened.close();
    await leave();
  });

  test('that only its menu was opened of is not opened; whoever comes back from elsewhere can say that it was', async () => {
    const visitor = await askedFor(page);
    const { view, card, leave } = visitor;
    const button = card.getByRole('button', { name: 'I have opened the page' });
    await card.getByRole('link').click({ button: 'right' });
    await view.evaluate(() => window.dispatchEvent(new Event('focus')));
    expect(await button.count()).toBe(0);
    await view.evaluate(() => {
      for (const type of ['blur', 'focus']) window.dispatchEvent(new Event(type));
    });
    await button.waitFor();
    expect(visitor.answers()).toBe(0);
    await button.click();
    await say(visitor, 'shown: accept');
    expect(visitor.answers()).toBe(1);
    await leave();
  });

  test('of an account needs nobody to say that it was opened', async () => {
    await disconnect(setup, 'bob');
    const { view, card, leave, ...visitor } = await askedFor('list my open issues');
    await view.evaluate(() => {
      for (const type of ['blur', 'focus']) window.dispatchEvent(new Event(type));
    });
    expect(await card.getByRole('button').allInnerTexts()).toEqual(['', 'Not now']);
    expect(visitor.answers()).toBe(0);
    await leave();
  });
});

describe('an answer', () => {
  test.each([
    { kind: 'a link', text: page },
    { kind: 'a form', text: 'call office__delete {"what":"the lobby"}' },
  ])('that nobody confirms is said in the card of $kind, and can be sent again', async ({ text }) => {
    const visitor = await askedFor(text, { context: await withOwnClock() });
    const { page: window, context, card, leave } = visitor;
    const name = text === page ? 'Not now' : 'Not now';
    await window.route('**/elicitation-responses', (route) => route.abort('internetdisconnected'));
    await press(visitor, name);
    const button = card.getByRole('button', { name });
    await expect.poll(() => button.getAttribute('aria-disabled')).toBe('true');
    await expect
      .poll(async () => {
        await window.clock.runFor(5_000);
        return card.locator('.problem').count();
      })
      .toBe(1);
    expect(await card.locator('.problem').innerText()).toBe(
      'It is not known whether your answer arrived. Try again.',
    );
    expect(await button.getAttribute('aria-disabled')).toBe('false');
    await window.unroute('**/elicitation-responses');
    await button.click();
    await say(visitor, ': decline');
    await leave();
    await context.close();
  });

  test.each([
    { text: 'call office__delete {"what":"the roof"}', button: 'Confirm', settled: 'You answered Office' },
    {
      text: 'call office__delete {"what":"the roof"}',
      button: 'Not now',
      settled: 'Office: You said “not now”',
    },
    { text: 'call office__fill', button: 'Send', settled: 'You answered Office' },
    { text: page, button: 'Not now', settled: 'Office: You said “not now”' },
  ])('is sent once, however often it is pressed: $button', async ({ text, button, settled }) => {
    office.form = { type: 'object', properties: { name: { type: 'string' } } };
    const visitor = await askedFor(text);
    const { view, card, leave } = visitor;
    const target = card.getByRole('button', { name: button });
    // Before anything can be drawn in between; and as fast as a hand can be.
    await target.evaluate((element) => {
      for (const _ of [1, 2]) (element as HTMLElement).click();
    });
    await target.dblclick({ timeout: 500 }).catch(() => undefined);
    await view.getByText(settled).waitFor();
    expect(visitor.answers()).toBe(1);
    await leave();
  });

  test('leaves no hole where its card was, even under a pointer that stays there', async () => {
    const visitor = await askedFor('call office__delete {"what":"the door"}');
    const { view, card, leave } = visitor;
    await card.getByRole('button', { name: 'Not now' }).click();
    const line = view.locator('.settled', { hasText: 'Office: You said “not now”' });
    await line.waitFor();
    const heightOf = async () => (await line.boundingBox())?.height ?? NaN;
    await expect.poll(heightOf).toBeLessThan(60);
    await leave();
  });

  test('that comes at the very moment of the deadline is told that it came too late', async () => {
    const visitor = await askedFor('call office__delete {"what":"the cellar"}', {}, hasty);
    const { page: window, view, leave } = visitor;
    const held = Promise.withResolvers<void>();
    await window.route('**/elicitation-responses', async (route) => {
      await held.promise;
      await route.continue();
    });
    await press(visitor, 'Confirm');
    await view.getByText('Office: Nobody answered in time').waitFor();
    const answer = window.waitForResponse(/elicitation-responses/);
    held.resolve();
    expect((await answer).status()).toBe(410);
    await view.getByText('Office: Your answer came too late').waitFor();
    await view.getByRole('button', { name: 'Ask again' }).waitFor();
    expect(office.deleted).not.toContain('the cellar');
    await leave(/status of 410/);
  });
});

test('a question that nobody answered says so, and can be asked again', async () => {
  const { page, say, leave } = await hasty.visit({ user: 'bob' });
  await say('list my open issues');
  await page.locator('.countdown[data-soon=true]').waitFor();
  await page.getByText('Tracker: Nobody answered in time').waitFor();
  await page.getByRole('button', { name: 'Ask again' }).click();
  await page.locator('.card').waitFor();
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Tracker: You said “not now”').waitFor();
  await leave();
});

describe('a form', () => {
  test('with a day or a time that is none says so at the field, and is sent when it is one', async () => {
    const moment = { type: 'string', format: 'date-time' };
    const visitor = await askedToFill(
      {
        when: { ...moment, title: 'When' },
        day: { type: 'string', format: 'date', title: 'Day' },
        later: { ...moment, title: 'Later' },
        given: { ...moment, title: 'Given', default: '2026-11-22T10:00:30Z' },
      },
      ['when'],
    );
    const { page: window, card, leave } = visitor;
    const type = async (label: string, ...keys: string[]) => {
      await card.getByLabel(label).focus();
      for (const key of keys) await (key === 'Tab' ? window.keyboard.press(key) : window.keyboard.type(key));
    };
    await type('When', '112220265', 'Tab', '1000AM');
    await type('Day', '112220265');
    // Begun, and not brought to an end.
    await type('Later', '11222026');
    expect(await card.getByLabel('When').inputValue()).toBe('20265-11-22T10:00');
    await press(visitor, 'Send');
    await card.getByText('Please check 3 fields.').waitFor();
    const whole = (what: string) => `Please give the whole ${what}, with a year of four digits.`;
    expect(await card.locator('.field .problem').allInnerTexts()).toEqual(
      ['date and time', 'date', 'date and time'].map(whole),
    );
    await expect.poll(() => isFocused(card.getByLabel('When'))).toBe(true);
    expect(visitor.answers()).toBe(0);
    await card.getByLabel('When').fill('2026-11-22T10:00');
    await card.getByLabel('Day').fill('2026-11-22');
    await card.getByLabel('Later').fill('2026-11-23T10:00');
    await press(visitor, 'Send');
    await say(visitor, 'form: accept');
    const inPage = (text: string) => window.evaluate((local) => new Date(local).toISOString(), text);
    expect(office.filled.at(-1)).toEqual({
      when: await inPage('2026-11-22T10:00'),
      day: '2026-11-22',
      later: await inPage('2026-11-23T10:00'),
      given: '2026-11-22T10:00:30Z',
    });
    await leave();
  });

  test('that the service refuses leaves the focus with somebody who has moved on since they sent it', async () => {
    const visitor = await askedToFill({ city: { type: 'string', title: 'City' } }, ['city']);
    const { card, view, page: shown, leave } = visitor;
    const released = Promise.withResolvers<void>();
    await shown.route(/elicitation-responses$/, async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await released.promise;
      await route.fulfill({
        status: 422,
        headers: { 'access-control-allow-origin': '*', 'content-type': 'application/problem+json' },
        json: {
          status: 422,
          code: 'invalid_content',
          detail: 'Check the city.',
          errors: [{ pointer: '/content/city', detail: 'There is no such city.' }],
        },
      });
    });
    await card.getByLabel('City').fill('Atlantis');
    await press(visitor, 'Send');
    const composer = view.locator('textarea');
    await composer.focus();
    released.resolve();
    await card.getByText('There is no such city.').waitFor();
    // One frame later the field would have the focus.
    await shown.evaluate(
      () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
    );
    expect(await isFocused(composer)).toBe(true);
    await leave(/status of 422/);
  });

  test('with names of several words and quotes reads help and problem out with each field', async () => {
    const names = ['full name', 'a "quoted" name', "o'clock", 'x]y', 'a\\b'];
    const field = (name: string) => ({
      type: 'string',
      title: name,
      description: `Help for ${name}`,
      minLength: 2,
    });
    const few = {
      type: 'string',
      title: 'Some colour',
      description: 'Help for it',
      enum: ['dark red', 'red'],
    };
    const visitor = await askedToFill(
      { ...Object.fromEntries(names.map((name) => [name, field(name)])), 'some colour': few },
      [...names, 'some colour'],
    );
    const { card, leave } = visitor;
    await press(visitor, 'Send');
    await card.getByText('Please check 6 fields.').waitFor();
    await expect.poll(() => isFocused(card.getByRole('textbox').first())).toBe(true);
    for (const name of names) {
      const input = card.getByRole('textbox', { name, exact: true });
      expect(await describedBy(input)).toEqual([
        `Help for ${name}`,
        'At least 2 characters.',
        'Please fill this in.',
      ]);
      await input.fill('Ada');
    }
    const group = card.getByRole('group', { name: 'Some colour' });
    expect(await describedBy(group)).toEqual(['Help for it', 'Please fill this in.']);
    await group.getByText('dark red').click();
    await press(visitor, 'Send');
    await say(visitor, 'form: accept');
    const filled = Object.fromEntries(names.map((name) => [name, 'Ada']));
    expect(office.filled.at(-1)).toEqual({ ...filled, 'some colour': 'dark red' });
    await leave();
  });

  test('with names that mean something to the language or to the browser is a form like any other', async () => {
    const ofLanguage = ['constructor', 'valueOf', 'toString', 'prototype', 'then'];
    const ofBrowser = [
      'querySelectorAll',
      'querySelector',
      'insertBefore',
      'childNodes',
      'firstChild',
      'parentNode',
    ];
    const others = [
      'addEventListener',
      'setAttribute',
      'getRootNode',
      'contains',
      'submit',
      'action',
      'id',
      'name',
    ];
    const names = [...ofLanguage, ...ofBrowser, ...others];
    const visitor = await askedToFill(
      Object.fromEntries(names.map((name) => [name, { type: 'string', title: name, minLength: 2 }])),
      names,
    );
    const { card, leave } = visitor;
    expect(await card.locator('.problem').count()).toBe(0);
    expect(await card.locator('[aria-invalid=true]').count()).toBe(0);
    await press(visitor, 'Send');
    await card.getByText(`Please check ${names.length} fields.`).waitFor();
    await expect.poll(() => isFocused(card.getByRole('textbox').first())).toBe(true);
    for (const name of names) await card.getByLabel(name, { exact: true }).fill(`my ${name}`);
    expect(await card.locator('.field .problem').count()).toBe(0);
    await press(visitor, 'Send');
    await say(visitor, 'form: accept');
    expect(Object.entries(Object(office.filled.at(-1))).toSorted()).toEqual(
      names.map((name) => [name, `my ${name}`]).toSorted(),
    );
    await leave();
  });

  test('with a field that no careful reader of JSON takes is put to nobody, and pollutes nothing', async () => {
    office.form = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string","default":"polluted"}}}',
    ) as Record<string, unknown>;
    const { say: write, view, leave } = await setup.visit({ user: 'bob' });
    await write('call office__fill');
    // Its name is read as Markdown there.
    await view.locator('.markdown').getByText('No field may be named').waitFor();
    expect(await view.locator('.card').count()).toBe(0);
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(await view.evaluate(() => Object.keys(Object.prototype))).toEqual([]);
    await leave();
  });

  test('is sent with Enter from a line, and not from a text of several lines', async () => {
    const visitor = await askedToFill({
      line: { type: 'string', title: 'Line' },
      text: { type: 'string', title: 'Text', maxLength: 500 },
    });
    const { page: window, card, leave } = visitor;
    await card.getByLabel('Text').focus();
    await window.keyboard.type('one');
    await window.keyboard.press('Enter');
    await window.keyboard.type('two');
    expect(await card.getByLabel('Text').inputValue()).toBe('one\ntwo');
    expect(visitor.answers()).toBe(0);
    await card.getByLabel('Line').focus();
    await window.keyboard.type('three');
    await window.keyboard.press('Enter');
    await say(visitor, 'form: accept');
    expect(office.filled.at(-1)).toEqual({ line: 'three', text: 'one\ntwo' });
    expect(visitor.answers()).toBe(1);
    await leave();
  });
});

test.each([
  { wrong: 'ahead', minutes: 15 },
  { wrong: 'behind', minutes: -15 },
  { wrong: 'days behind', minutes: -5000 },
])('how long there is, is what the service says, on a machine whose clock is $wrong', async ({ minutes }) => {
  const context = await withOwnClock(Date.now() + minutes * 60_000);
  const visitor = await askedFor('call office__delete {"what":"the stairs"}', { context });
  const { page: window, view, card, comeBack, leave } = visitor;
  const countdown = card.locator('.countdown');
  // To a second: that is all that answers say.
  expect(await countdown.innerText()).toMatch(/^(?:10:0[01]|9:5\d) left$/);
  await window.clock.runFor(20_000);
  expect(await countdown.innerText()).toMatch(/^9:[34]\d left$/);
  await comeBack();
  await view.locator('.card').waitFor();
  expect(await countdown.innerText()).toMatch(/^(?:10:0[01]|9:\d\d) left$/);
  await press(visitor, 'Not now');
  await say(visitor, ': decline');
  await leave();
  await context.close();
});

test('a new form is shown from its top, below earlier messages, and stays where it is scrolled to', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 14 }, (_, index) => [`field${index}`, { type: 'string', title: `Line ${index}` }]),
  );
  const visitor = await askedToFill(properties);
  const { page: window, view, card, leave } = visitor;
  const fromTop = () =>
    card.evaluate((element) => {
      const log = element.closest('.log') as Element;
      return element.getBoundingClientRect().top - log.getBoundingClientRect().top;
    });
  for (const earlier of [0, 1, 2]) {
    await card.press('Escape');
    await card.waitFor({ state: 'detached' });
    await view.locator('.settled').nth(earlier).waitFor();
    await visitor.say('call office__fill');
    await card.waitFor();
    await expect.poll(fromTop).toBeGreaterThanOrEqual(0);
    await expect.poll(fromTop).toBeLessThan(60);
  }
  await card.getByLabel('Line 13').focus();
  const { promise: scrolled, resolve } = Promise.withResolvers<void>();
  await window.exposeFunction('scrolled', resolve);
  await view.locator('.log').evaluate((log) => {
    log.addEventListener('scrollend', () => (globalThis as never as { scrolled(): void }).scrolled());
    log.scrollBy(0, -100);
  });
  await scrolled;
  const place = await fromTop();
  await card.getByLabel('Line 13').fill('The last line');
  expect(await fromTop()).toBeLessThan(-100);
  expect(Math.abs((await fromTop()) - place)).toBeLessThan(120);
  await leave();
});

/** A browser whose clock the test can move. */
async function withOwnClock(time = Date.now()) {
  const context = await browser.newContext({ locale: 'en', viewport: { width: 900, height: 800 } });
  await context.clock.install({ time });
  return context;
}

/** What is read out with it. */
function describedBy(target: Locator): Promise<string[]> {
  return target.evaluate((element) =>
    (element.getAttribute('aria-describedby') ?? '')
      .split(' ')
      .map((id) => (element.getRootNode() as ShadowRoot).getElementById(id)?.textContent ?? `nothing: ${id}`),
  );
}
