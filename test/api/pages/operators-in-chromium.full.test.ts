/** The operators' pages in a browser: on a phone, at twice the size, with the keyboard, and as assistive technology reads them. */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { launchChromium } from '../../browsers/chromium.ts';
import { picture } from '../../widget/look.ts';
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
  const context = await chromium.newContext({ locale: 'en' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${setup.publicUrl}/operators`);
  await page.getByRole('button', { name: 'Continue as Bob' }).click();
  await page.getByRole('heading', { name: 'Turns', exact: true }).waitFor();
  return { ...setup, page };
}

const looks = [
  { width: 390, percent: 100, colorScheme: 'light' },
  { width: 390, percent: 100, colorScheme: 'dark' },
  { width: 390, percent: 200, colorScheme: 'light' },
  { width: 1280, percent: 100, colorScheme: 'light' },
] as const;

/** What is wrong with the page on a phone, with letters of twice the size there, and on a desk. */
async function inspect(page: Page, name: string): Promise<string[]> {
  const problems: string[] = [];
  await page.evaluate(axe.source);
  for (const { width, percent, colorScheme } of looks) {
    const where = `${name} ${width} ${percent} ${colorScheme}`;
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    await page.evaluate((size) => (document.documentElement.style.fontSize = size), `${percent}%`);
    const excess = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement;
      return scrollWidth - clientWidth;
    });
    if (excess > 0) problems.push(`${where}: ${excess} pixels too wide`);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(),
    );
    problems.push(
      ...violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${where}: ${id} ${html}`)),
    );
    await picture(page, where);
  }
  await page.evaluate(() => (document.documentElement.style.fontSize = ''));
  return problems;
}

test('each page fits a phone, at twice the size too, and axe finds nothing', async () => {
  const { page, publicUrl } = await setUp();
  expect(await inspect(page, 'turns')).toEqual([]);
  await page.goto(`${publicUrl}/operators/questions?status=`);
  expect(await inspect(page, 'questions')).toEqual([]);
  await page.goto(`${publicUrl}/operators/turns/t-q1`);
  expect(await inspect(page, 'turn')).toEqual([]);
  await page.getByRole('button', { name: 'Show contents' }).click();
  await page.getByText('Arguments').click();
  expect(await inspect(page, 'contents')).toEqual([]);
  await page.goto(`${publicUrl}/operators/questions/q1/expire`);
  expect(await inspect(page, 'expire')).toEqual([]);
}, 60_000);

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
