/** The demo's agent `desk`, whose tools are written in TypeScript, used in the playground's page. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { say, startPlayground } from './playground-process.ts';
import type { PlaygroundProcess } from './playground-process.ts';

let playground: PlaygroundProcess;
let page: Page;

beforeAll(async () => {
  playground = await startPlayground();
  const context = await playground.signIn('Alice');
  page = await context.newPage();
  await page.goto(playground.baseUrl);
  await page.getByLabel('Agent').selectOption('desk');
});
afterAll(() => playground.stop());

const card = (words: string) => page.locator('.card', { hasText: words });
const send = (words: string) => card(words).getByRole('button', { name: 'Send' }).click();
const said = (words: string) => page.locator('.markdown', { hasText: words }).waitFor();

test('confirm: offered as a suggestion, and done after a yes', async () => {
  await page.getByRole('button', { name: 'Delete the page “Old roadmap”.' }).click();
  await card('It cannot be brought back').getByLabel('Yes, delete it').check();
  await send('It cannot be brought back');
  await said('The page "Old roadmap" is deleted.');
});

test('wizard: three cards, one after the other', async () => {
  await say(page, 'Welcome a new member.');
  await card('(1 of 3)').getByLabel('Name').fill('Ada Lovelace');
  await card('(1 of 3)').getByLabel('Email').fill('ada@example.com');
  await send('(1 of 3)');
  await send('Which team does Ada Lovelace join?');
  await send('Add Ada Lovelace <ada@example.com> to Design');
  await said('Ada Lovelace is a member of Design now.');
});

test('preferences: what holds so far is filled in', async () => {
  await say(page, 'Change my digest.');
  await card('how would you like it?').getByLabel('people').check();
  await send('how would you like it?');
  await said('The digest comes every week at 9:00, with issues, people.');
});

test('a page of one’s own: opened, then paid, and the conversation goes on by itself', async () => {
  await say(page, 'Pay an invoice.');
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    card('Pay invoice I-17').getByRole('link', { name: 'Open the page' }).click(),
  ]);
  await page.getByText('Finish in the other window').waitFor();
  await popup.getByRole('button', { name: 'Pay 48 €' }).click();
  await popup.getByText('Your conversation knows').waitFor();
  await said('Invoice I-17 of Green Office Plants is paid: 48 €.');
  expect(await page.locator('.card').count()).toBe(0);
});
