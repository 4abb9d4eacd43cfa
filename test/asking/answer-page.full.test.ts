/** The page for questions in a real browser: light, dark, on a phone, for those who hear it, with what hostile servers put on it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../browsers/chromium.ts';
import { openPersonsBrowser } from '../e2e/person.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';
import { useAskingService } from './asking-service.ts';

const setup = useAskingService({ env: { ASKING_APPROVAL: 'always' } });
let chromium: Browser;
beforeAll(async () => {
  chromium = await launchChromium({ isStrict: true });
});
afterAll(() => chromium.close());

async function alice(elicitationId: string, options = {}) {
  const person = await openPersonsBrowser(chromium, options);
  onTestFinished(() => person.leave());
  await person.open(`${setup.service.baseUrl}/auth/answer?e=${elicitationId}`);
  await person.press('Continue as Alice');
  return person;
}

test('an approval with hostile arguments is read as what it is, and refused with a reason', async () => {
  const input = {
    title: 'Approved by Interlude \u202Eevil\u202C <script>alert(1)</script> \u001b[31mred',
    long: `${'word '.repeat(3_000)}to the end`,
    wide: 'x'.repeat(500),
  };
  const turn = await setup.begin([], { input });
  const { elicitationId } = await turn.question(0);
  const person = await alice(elicitationId);
  await person.sees('Assistant asks for your approval');
  const text = await person.text();
  expect(text).toContain('\\u202eevil');
  for (const hidden of ['\u202E', '\u001b']) expect(text).not.toContain(hidden);
  expect(text).toContain('to the end');
  await person.page.getByText('Decline and say why').click();
  await person.page.getByLabel('Why not?').fill('No hurry');
  await person.press('Decline');
  await person.sees('Declined');
  expect((await turn.end()).error).toContain('No hurry');
});

test('a form of every kind of field, with the keyboard and without scripts', async () => {
  const fields = {
    city: { type: 'string', title: 'City', description: 'Where do you want to go?', minLength: 2 },
    email: { type: 'string', format: 'email', title: 'Email' },
    day: { type: 'string', format: 'date', title: 'Day' },
    nights: { type: 'integer', title: 'Nights', minimum: 1, default: 2 },
    window: { type: 'boolean', title: 'A window seat' },
    meal: { type: 'string', title: 'Meal', enum: ['none', 'vegan', 'fish'] },
    airport: { type: 'string', title: 'Airport', enum: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'] },
    extras: { type: 'array', title: 'Extras', items: { type: 'string', enum: ['bag', 'lounge'] } },
    note: { type: 'string', title: 'Note', maxLength: 500 },
  };
  const turn = await setup.begin([asks({ trip: form('Tell us about your trip', fields) })]);
  await turn.answer(0, { action: 'accept' });
  const { elicitationId } = await turn.question(1);
  const looking = await alice(elicitationId);
  await looking.sees('Asking asks you');
  await looking.page.getByLabel('City').fill('L');
  await looking.press('Send');
  await looking.sees('Asking asks you');
  expect(await looking.page.getByLabel('City').inputValue()).toBe('L');
  expect(await looking.page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('f.city');

  const person = await alice(elicitationId, { scripts: false });
  const { page: shown } = person;
  await shown.getByLabel('City').fill('Lisbon');
  await shown.getByLabel('Email').fill('alice@example.com');
  await shown.getByLabel('Day').fill('2026-12-01');
  await shown.getByRole('checkbox', { name: 'A window seat' }).check();
  await shown.getByRole('radio', { name: 'vegan' }).check();
  await shown.getByLabel('Airport').selectOption('h');
  await shown.getByRole('checkbox', { name: 'lounge' }).check();
  await shown.getByLabel('Note').fill('Two lines\nof text');
  await person.press('Send');
  await shown.getByText('Answered').first().waitFor();
  await turn.end();
  expect(setup.server.calls.at(-1)?.params.inputResponses).toMatchObject({
    trip: {
      action: 'accept',
      content: {
        city: 'Lisbon',
        nights: 2,
        window: true,
        meal: 'vegan',
        airport: 'h',
        extras: ['lounge'],
        note: 'Two lines\nof text',
      },
    },
  });
});

test('a link shows where it leads, and settings list what waits', async () => {
  const turn = await setup.begin([asks({ there: page('https://xn--pple-43d.example/a?b=c') })]);
  await turn.answer(0, { action: 'accept' });
  const { elicitationId } = await turn.question(1);
  const person = await alice(elicitationId);
  await person.sees('Asking asks you to open a page');
  expect(await person.text()).toContain('look-alike letters');
  await person.open(`${setup.service.baseUrl}/connections`);
  await person.sees('Your connections');
  await turn.answer(1, { action: 'decline' });
  await turn.end();
  await person.open(`${setup.service.baseUrl}/auth/answer?e=${elicitationId}`);
  await person.sees('Not now, then');
});
