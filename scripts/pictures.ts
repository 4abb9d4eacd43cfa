/** The pictures of the docs, taken of a running demo: `npm run pictures`. What each shows is in picture-sources.mjs. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { say, startPlayground } from '../test/e2e/playground-process.ts';
import { animated } from './animation.ts';
import { digestsFile, digestsOfSources, picturesFolder } from './picture-sources.mjs';

mkdirSync(picturesFolder, { recursive: true });
await using stack = new AsyncDisposableStack();
const { baseUrl, browser, signIn, stop } = await startPlayground();
stack.defer(stop);
const alice = await (await signIn('Alice')).storageState();

const save = (name: string, bytes: Buffer) => writeFileSync(path.join(picturesFolder, name), bytes);
/** Both cards are in view. */
const large = { viewport: { width: 1_200, height: 1_080 } };
const cards = (page: Page) => page.locator('.card').nth(1).waitFor();
const take = async (page: Page, name: string) => save(name, await page.screenshot());

async function open(address: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    storageState: alice,
    locale: 'en',
    viewport: { width: 1_280, height: 800 },
    reducedMotion: 'reduce',
    ...options,
  });
  const page = await context.newPage();
  await page.goto(new URL(address, baseUrl).href);
  return page;
}

await takeJourney();
await answerTwo();
const chat = await takeChat();
for (const [name, options] of [
  ['chat-dark.png', { ...large, colorScheme: 'dark' }],
  ['chat-german.png', { ...large, locale: 'de' }],
  ['chat-narrow.png', { viewport: { width: 390, height: 844 } }],
] as const) {
  const page = await open(chat, options);
  await cards(page);
  await take(page, name);
}
for (const [name, address] of [
  ['waiting.png', '/connections/waiting'],
  ['accounts.png', '/connections'],
  ['history.png', '/connections/history'],
] as const)
  await take(await open(address, { viewport: { width: 760, height: 640 } }), name);
writeFileSync(digestsFile, `${JSON.stringify(digestsOfSources(), null, 2)}\n`);

/** Asked, connected, goes on. */
async function takeJourney(): Promise<void> {
  const viewport = { width: 960, height: 600 };
  const page = await open('/', { viewport });
  const frames: { png: Buffer; ms: number }[] = [];
  const frame = async (shown: Page, ms: number) => frames.push({ png: await shown.screenshot(), ms });
  await page.locator('textarea').fill('List my open issues in Tracker.');
  await frame(page, 1_800);
  await say(page, 'List my open issues in Tracker.');
  const link = page.locator('.card').getByRole('link');
  await link.waitFor();
  await frame(page, 2_600);
  const [other] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
  await other.setViewportSize(viewport);
  for (const button of ['Connect Tracker', 'Continue as alice', 'Allow']) {
    await other.getByRole('button', { name: button }).waitFor();
    await frame(other, 1_500);
    await other.getByRole('button', { name: button }).click();
  }
  await other.getByRole('heading', { name: 'Tracker is connected' }).waitFor();
  await frame(other, 1_500);
  await other.close();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await page.locator('.markdown').getByText('open issues').waitFor();
  await page.mouse.move(0, 0);
  await frame(page, 4_000);
  save('asked.png', animated(frames));
}

/** For the page of what was answered. */
async function answerTwo(): Promise<void> {
  const page = await open('/');
  for (const [index, [wish, decision]] of [
    ['Close #5.', 'Approve'] as const,
    ['Close #1.', 'Decline'] as const,
  ].entries()) {
    await say(page, wish);
    await page.locator('.card').getByRole('button', { name: decision, exact: true }).click();
    await page.locator('.settled').nth(index).waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  }
}

/** An approval and a form, side by side; returns the address of the conversation. */
async function takeChat(): Promise<string> {
  const page = await open('/', large);
  await say(page, 'Give me an overview of the team’s work.');
  await page.getByText('The researcher says').waitFor();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  await say(page, 'Close #2, and book a trip to Lisbon.');
  await cards(page);
  await take(page, 'chat.png');
  return page.url();
}
