/** The hosted pages in a real browser: everything a person can be led through, from the link to the answer. */
import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { launchChromium } from '../browsers/chromium.ts';
import type { ChatStream, ElicitationData } from '../service/chat-stream.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { openPersonsBrowser } from './person.ts';
import type { Person } from './person.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let service: Service;
let person: Person;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  service = await startService({ temporal });
  person = await openPersonsBrowser(browser);
});
afterEach(async () => {
  await person.leave();
  await service.stop();
});

async function ask(conversation = randomUUID()): Promise<{ stream: ChatStream; question: ElicitationData }> {
  const alice = await service.as('alice');
  const stream = await alice.chat('list my open issues', { conversation });
  return { stream, question: await stream.question('pending') };
}

async function signIn(name: 'Alice' | 'Bob', url: string): Promise<void> {
  await person.open(url);
  await person.press(`Continue as ${name}`);
}

test.each([
  ['with', true],
  ['without', false],
])('alice connects her account, %s JavaScript, and her conversation goes on', async (_, scripts) => {
  await person.leave();
  person = await openPersonsBrowser(browser, { scripts });
  const { stream, question } = await ask();
  await person.open(question.url);
  await person.sees('Who are you?');
  await person.press('Continue as Alice');
  await person.sees('Connect Tracker');
  const asked = await person.text();
  for (const words of ['Assistant', new URL(service.tracker.url).host, 'issues:write', 'Signed in as Alice'])
    expect(asked).toContain(words);

  await person.press('Connect Tracker');
  await person.sees('Sign in to Tracker');
  await person.press('Continue as alice');
  await person.sees('Interlude would like to use your Tracker account');
  await person.press('Allow');
  await person.sees('Tracker is connected');
  expect(person.page.url()).not.toMatch(/code|state/);
  await stream.question('accept');
  await stream.finished();
  expect(stream.text()).toContain('Here they are');

  await person.page.reload();
  await person.sees('Tracker is connected');
  await person.open(question.url);
  await person.sees('Tracker is connected');
});

test('the whole way works with the keyboard alone', async () => {
  const { stream, question } = await ask();
  await person.open(question.url);
  for (const [heading, button] of [
    ['Who are you?', 'Continue as Alice'],
    ['Connect Tracker', 'Connect Tracker'],
    ['Sign in to Tracker', 'Continue as alice'],
    ['Interlude would like to use your Tracker account', 'Allow'],
  ] as const) {
    await person.page.getByRole('heading', { name: heading }).waitFor();
    await person.tabTo(button);
  }
  await person.sees('Tracker is connected');
  await stream.finished();
});

test('bob, who was not asked, learns nothing, and alice can take over from him', async () => {
  const { stream, question } = await ask();
  await signIn('Bob', question.url);
  await person.sees('This question is for another person');
  expect(await person.text()).not.toMatch(/Tracker|Alice/);
  await person.follow('Sign in as someone else');
  await person.press('Continue as Alice');
  await person.sees('Connect Tracker');
  await person.press('Not now');
  await stream.finished();
});

test('“Not you?” signs out, and the question is still there for whoever was asked', async () => {
  const { question } = await ask();
  await signIn('Alice', question.url);
  await person.press('Not you?');
  await person.sees('You are signed out');
  await person.follow('Sign in');
  await person.press('Continue as Alice');
  await person.sees('Connect Tracker');
});

test('“Not now” ends the question, and the link says so from then on', async () => {
  const { stream, question } = await ask();
  await signIn('Alice', question.url);
  await person.press('Not now');
  await person.sees('Not now, then');
  await stream.question('decline');
  await stream.finished();
  await person.open(question.url);
  await person.sees('You said “not now”');
});

test('who denies access at Tracker comes back, and can try again', async () => {
  const { stream, question } = await ask();
  await signIn('Alice', question.url);
  await person.press('Connect Tracker');
  await person.press('Continue as alice');
  await person.press('Deny');
  await person.sees('Tracker is not connected');
  await person.press('Try again');
  await person.press('Allow');
  await person.sees('Tracker is connected');
  await stream.finished();
});

test('a browser that does not move on by itself shows where it goes', async () => {
  const { question } = await ask();
  await signIn('Alice', question.url);
  await person.page.route(`${service.tracker.origin}/**`, (route) => route.abort('aborted'));
  await person.press('Connect Tracker');
  await person.sees('Taking you to Tracker');
  await person.page.unrouteAll();
  await person.follow('Continue');
  await person.sees('Sign in to Tracker');
});

test('a question that was cancelled with its turn is closed', async () => {
  const conversation = randomUUID();
  const { stream, question } = await ask(conversation);
  await signIn('Alice', question.url);
  const alice = await service.as('alice');
  await alice.cancel(conversation);
  await stream.finished();
  await person.press('Connect Tracker');
  await person.sees('This question is closed');
});

test('a link that leads nowhere says so', async () => {
  const { question } = await ask();
  await signIn('Alice', question.url);
  await person.open(`${service.baseUrl}/auth/connect?e=${randomUUID()}`);
  await person.sees('Nothing is asked here');
  await person.open(`${service.baseUrl}/auth/connect`);
  await person.sees('Nothing is asked here');
});

test('a question that expired while its page was open says so', async () => {
  await service.stop();
  service = await startService({ temporal, env: { ELICITATION_TIMEOUT: '15s' } });
  await signIn('Alice', `${service.baseUrl}/connections`);
  await person.sees('Your connections');
  const { stream, question } = await ask();
  await person.open(question.url);
  await person.sees('Connect Tracker');
  await stream.question('expired');
  await person.press('Connect Tracker');
  await person.sees('This question has expired');
});

test.each([
  ['is hard to read', '<p style="color: #ddd; background: #fff">pale</p>', 'color-contrast'],
  ['breaks its own policy', '<img src="/picture" alt="">', 'Content Security Policy'],
  ['has a script that fails', '<script>throw new Error("oh no")</script>', 'oh no'],
  ['does not fit a phone', '<p style="width: 400px">wide</p>', 'narrow: wider than the window'],
])('a page that %s would not get through these tests', async (_, fault, complaint) => {
  const policy = `<meta http-equiv="content-security-policy" content="img-src 'none'">`;
  const body = `<html lang="en"><title>Wrong</title>${policy}<main><h1>Wrong</h1>${fault}</main></html>`;
  await person.page.route('http://wrong.test/', (route) => route.fulfill({ contentType: 'text/html', body }));
  await person.open('http://wrong.test/');
  await expect(person.sees('Wrong')).rejects.toThrow(complaint);
});
