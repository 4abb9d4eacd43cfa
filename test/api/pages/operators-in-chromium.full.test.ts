/** The operators' pages in a browser: on a phone, at twice the size, with the keyboard, and as assistive technology reads them. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { inspectPage } from '../../browsers/inspect-page.ts';
import { keptStep } from '../../storage/contract/fixtures.ts';
import { endQuestion } from '../../storage/end-question.ts';
import { setUpPages } from './pages-setup.ts';

let chromium: Browser;
beforeAll(async () => {
  chromium = await launchChromium();
});
afterAll(() => chromium.close());

/** A turn with a delegate, a call that failed, an answered question and an open one; one more turn; and an operator. */
async function setUp() {
  const operator = { claim: 'sub', role: 'bob', contentsRole: 'bob' };
  const setup = await setUpPages(undefined, {}, [], {}, undefined, { operator });
  await setup.ask({ id: 'other' });
  const { tenant, conversation, turnId } = await setup.ask({ id: 'q1' });
  const turn = { tenant, conversation, turnId };
  const call = { toolCallId: 'c1', toolName: 'tracker__list_issues' };
  const of = { path: ['researcher'], parentToolCallId: 'd1' };
  await keptStep(setup.storage, turn, {
    events: [
      { key: '1', event: { type: 'start-step', step: 0 } },
      { key: '2', event: { type: 'finish-step', step: 0 } },
      {
        key: '3',
        event: {
          type: 'tool-input-available',
          toolCallId: 'd1',
          toolName: 'agent__researcher',
          input: { task: 'Look' },
          agent: 'researcher',
        },
      },
      {
        key: '4',
        event: {
          type: 'tool-input-available',
          ...call,
          input: { state: 'open', project: 'a'.repeat(90) },
          ...of,
        },
      },
      { key: '5', event: { type: 'tool-output-error', ...call, errorText: 'It is closed.', ...of } },
    ],
  });
  await endQuestion(setup.storage, 'other', 'decline');
  const context = await chromium.newContext({ locale: 'en', timezoneId: 'Asia/Kathmandu' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${setup.publicUrl}/operators`);
  await page.getByRole('button', { name: 'Continue as Bob' }).click();
  await page.getByRole('heading', { name: 'Turns', exact: true }).waitFor();
  return { ...setup, page };
}

test('each page fits a phone, at twice the size too, and axe finds nothing', async () => {
  const { page, publicUrl } = await setUp();
  expect(await inspectPage(page, 'turns')).toEqual([]);
  await page.goto(`${publicUrl}/operators/questions?status=`);
  expect(await inspectPage(page, 'questions')).toEqual([]);
  await page.goto(`${publicUrl}/operators/turns/t-q1`);
  expect(await inspectPage(page, 'turn')).toEqual([]);
  await page.getByRole('button', { name: 'Show contents' }).click();
  await page.getByText('Arguments').click();
  expect(await inspectPage(page, 'contents')).toEqual([]);
  await page.goto(`${publicUrl}/operators/questions/q1/expire`);
  expect(await inspectPage(page, 'expire')).toEqual([]);
});

test('from the list to an expired question with the keyboard alone', async () => {
  const { page, storage } = await setUp();
  const tabTo = async (words: string) => {
    for (let presses = 0; presses < 30; presses++) {
      await page.keyboard.press('Tab');
      if ((await page.locator(':focus').innerText()).includes(words)) return;
    }
    throw new Error(`The Tab key does not lead to "${words}".`);
  };
  await tabTo('assistant for alice');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'What happened' }).waitFor();
  await tabTo('Expire');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Expire this question?' }).waitFor();
  await tabTo('Expire the question');
  await page.keyboard.press('Enter');
  await page.getByText('expired by bob').waitFor();
  expect(await storage.elicitations.get('q1')).toMatchObject({ status: 'expired' });
});

test('times are those of the time zone that the browser is in, and in UTC where one points at them', async () => {
  const { page, publicUrl } = await setUp();
  await page.goto(`${publicUrl}/operators`);
  const time = page.locator('time').first();
  const at = new Date((await time.getAttribute('datetime')) ?? '');
  const inZone = (timeZone: string) =>
    at.toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone });
  expect(await time.innerText()).toBe(inZone('Asia/Kathmandu'));
  expect(await time.getAttribute('title')).toBe(`${inZone('UTC')} UTC`);
});

test('what happened is a list that says each thing in words', async () => {
  const { page, publicUrl } = await setUp();
  await page.goto(`${publicUrl}/operators/turns/t-q1`);
  const story = page.getByRole('region', { name: 'What happened' }).getByRole('listitem');
  expect(
    (await story.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').replace(/^\S+ s /, '')),
  ).toEqual([
    'Turn started assistant',
    expect.stringMatching(/^alice was asked to connect Tracker waiting for .* · 10 min left$/),
    expect.stringMatching(/^Step 1/),
    expect.stringMatching(/^Delegated to researcher running/),
    expect.stringMatching(/^researcher › tracker · list issues failed/),
  ]);
});
