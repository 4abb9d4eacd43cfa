/** `examples/nextjs`: installed and built as its README says, then used in a browser. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { bareEnvironment } from '../bare-environment.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { inspectPage } from '../browsers/inspect-page.ts';
import { startProgram } from '../programs/running-program.ts';
import { openExample } from './run-example.ts';
import type { Example } from './run-example.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());
let example: Example;
let origin: string;
let service: string;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  example = await openExample('nextjs');
  stack.defer(() => example.stop());
  const env = { ...bareEnvironment(), ...example.env };
  origin = `http://127.0.0.1:${example.env['APP_PORT']}`;
  service = example.baseUrl;
  // With the tester's own registry and certificates.
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund'], { cwd: example.folder });
  const program = startProgram('npm', ['start'], { cwd: example.folder, env, detached: true });
  stack.defer(async () => {
    // As Ctrl+C does: npm alone would leave what it has started.
    process.kill(-program.pid, 'SIGINT');
    await program.ended;
  });
  await program.sees('Interlude is ready');
  await vi.waitFor(() => fetch(origin), { timeout: 60_000 });
  browser = await launchChromium();
  stack.defer(() => browser.close());
  page = await (await browser.newContext({ locale: 'en' })).newPage();
}, 600_000);

const card = () => page.getByRole('region', { name: 'Question from Assistant' });

async function say(text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

test('a form is in the page, also after it is loaded again, and the answer goes on', async () => {
  await page.goto(origin);
  expect(await inspectPage(page, 'nextjs sign-in')).toEqual([]);
  await page.getByRole('button', { name: 'Alice' }).click();
  await page.getByRole('heading', { name: 'Hello, alice' }).waitFor();
  await say('Book a table for four.');
  await card().waitFor();
  expect(await inspectPage(page, 'nextjs form')).toEqual([]);
  await page.reload();
  await card().getByText('A table for 4: when?').waitFor();
  await card().getByLabel('day').fill('2027-01-15');
  await card().getByLabel('time').selectOption('19:30');
  await card().getByRole('button', { name: 'Send answer' }).click();
  await page.getByText('Booked: table T4 on 2027-01-15 at 19:30.').waitFor();
  await page.reload();
  await page.getByText('Booked: table T4 on 2027-01-15 at 19:30.').waitFor();
  expect(await page.getByRole('article').count()).toBe(2);
});

test('a call is refused, then approved', async () => {
  await say('Cancel T4.');
  await card().getByText('"number": "T4"').waitFor();
  expect(await inspectPage(page, 'nextjs approval')).toEqual([]);
  await card().getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Assistant: not now').waitFor();
  await say('Cancel T4.');
  await card().getByRole('button', { name: 'Approve' }).click();
  await page.getByText('Table T4 is cancelled.').waitFor();
});

test('a conversation is shown to its own user only', async () => {
  await using elsewhere = await browser.newContext();
  const other = await elsewhere.newPage();
  await other.goto(origin);
  await other.getByRole('button', { name: 'Bob' }).click();
  await other.getByRole('heading', { name: 'Hello, bob' }).waitFor();
  await other.goto(page.url());
  await other.getByRole('heading', { name: 'Hello, bob' }).waitFor();
  expect(await other.getByRole('article').count()).toBe(0);
});

test('the app gives a token to its own user only, and a session is no token', async () => {
  const tokenAddress = `${origin}/api/token?user=alice`;
  expect((await fetch(tokenAddress)).status).toBe(401);
  const [session] = await page.context().cookies();
  const statusWith = async (token: string) =>
    (await fetch(`${service}/run/v1/elicitations`, { headers: { authorization: `Bearer ${token}` } })).status;
  expect(session).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax' });
  expect(await statusWith(session?.value ?? '')).toBe(401);
  const token = await (await page.request.get(tokenAddress)).text();
  expect(await statusWith(token)).toBe(200);
  const asSession = { headers: { cookie: `session=${token}` } };
  expect((await fetch(tokenAddress, asSession)).status).toBe(401);
});

test('after Alice has signed out, Bob in the same browser sees none of her conversation, and her open pages get no token', async () => {
  const conversation = page.url();
  const stillOpen = await page.context().newPage();
  await stillOpen.goto(conversation);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
  expect(await page.getByRole('article').count()).toBe(0);
  await page.getByRole('button', { name: 'Bob' }).click();
  await page.getByRole('heading', { name: 'Hello, bob' }).waitFor();
  await page.goto(conversation);
  await page.getByRole('heading', { name: 'Hello, bob' }).waitFor();
  expect(await page.getByRole('article').count()).toBe(0);
  // Alice's open page does not get Bob's token.
  await stillOpen.getByLabel('Message').fill('Cancel T4.');
  await stillOpen.getByRole('button', { name: 'Send', exact: true }).click();
  await stillOpen.getByText('Sign in first.').waitFor();
});

test('a copy in a repository of its own keeps the key out of it', () => {
  const ours = example.inRepository();
  expect(ours).toContain('start.mjs');
  expect(ours.filter((file) => /^(\.interlude|\.next|node_modules)\//.test(file))).toEqual([]);
});
