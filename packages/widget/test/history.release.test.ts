/** What was said is on the screen, and what happens between two requests of the page, which none of its streams tells. */
import { randomUUID } from 'node:crypto';
import type { Browser, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { createOpenAIServer } from '../../../test/servers/openai-server.ts';
import type { ChatRequest, OpenAIServer, Reply } from '../../../test/servers/openai-server.ts';
import type { Caller } from '../../../test/service/user.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { declineElsewhere, setUpWidgetPage } from './widget-page.ts';
import { picture } from '../../../test/browsers/findings.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { WidgetPageSetup } from './widget-page.ts';

const temporal = useDevelopmentServer();
let browser: Browser;
let model: OpenAIServer;
let setup: WidgetPageSetup;
let bob: Caller;

beforeAll(async () => {
  [browser, model] = await Promise.all([launchChromium(), createOpenAIServer({ reply })]);
  const env = { MODEL_URL: model.baseURL };
  const agents = 'stages-agents.yaml';
  setup = await setUpWidgetPage({ browser, temporal, env, agents, around: withLateWorker });
  bob = await setup.service.as('bob');
});
afterAll(async () => {
  await setup.stop();
  await model.stop();
  await browser.close();
});

/** Until it is there, no turn begins. */
let worker: Promise<void> | undefined;

function withLateWorker(storage: Storage): Storage {
  const begin: Storage['turns']['begin'] = async (turn) => {
    await worker;
    return storage.turns.begin(turn);
  };
  return { ...storage, turns: { ...storage.turns, begin } };
}

let isModelWell = true;
let held: Promise<void> | undefined;

/** The model begins its next answer and does not end it, until it is let go. */
function hold(): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>();
  held = gate.promise;
  return gate;
}

async function* words(gate = held): AsyncGenerator<string> {
  held = undefined;
  await gate;
  yield* ['Not', 'ed.'];
}

function reply({ messages }: ChatRequest): Reply {
  const last = messages.at(-1);
  if (last?.role === 'tool') return { kind: 'text', chunks: ['Very well.'] };
  const said = JSON.stringify(last?.content ?? '');
  if (said.includes('ask me'))
    return { kind: 'tool-calls', calls: [{ name: 'connect_tracker', arguments: '{}' }] };
  if (!isModelWell) return { kind: 'status', status: 400 };
  return { kind: 'text', chunks: words() };
}

const said = (view: Frame | Page) => view.locator('.bubble, .markdown, .settled').allInnerTexts();
const heard = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { heard: { type: string }[] }).heard.map(({ type }) => type));

/** What has been drawn has had its effects. */
const twoFrames = (page: Page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function declineToTheEnd(conversationId: string): Promise<void> {
  await declineElsewhere(setup, conversationId);
  const path = `/run/v1/conversations/${conversationId}`;
  await expect.poll(async () => (await bob.request('GET', path)).body).toMatchObject({ turn: null });
}

test('a turn that ends while its page is being loaded is there to its end', async () => {
  const { page, say, comeBack, conversation, leave } = await setup.visit({ user: 'bob' });
  await say('ask me');
  await page.locator('.card').waitFor();
  const id = await conversation();
  await page.route('**/stream', async (route) => {
    await declineToTheEnd(id);
    await route.continue();
  });
  const stream = page.waitForResponse('**/stream');
  await comeBack();
  expect((await stream).status()).toBe(204);
  await expect
    .poll(() => said(page))
    .toEqual(['ask me', 'Tracker: You said “not now” Connect Tracker', 'Very well.']);
  // It was over before the page was opened, and is no news.
  expect(await heard(page)).toEqual([]);
  await leave();
});

test('turns that were begun elsewhere before the page could hear of it are there, and the one that goes on', async () => {
  const { page, say, comeBack, conversation, leave } = await setup.visit({ user: 'bob' });
  await say('first');
  await page.getByText('Noted.').waitFor();
  const id = await conversation();
  await page.route(
    '**/events?*',
    async (route) => {
      await (await bob.chat('second', { conversation: id })).finished();
      await (await bob.chat('ask me', { conversation: id })).question('pending');
      await route.continue();
    },
    { times: 1 },
  );
  await comeBack();
  await page.locator('.card').waitFor();
  await expect.poll(() => said(page)).toEqual(['first', 'Noted.', 'second', 'Noted.', 'ask me']);
  await page.getByRole('button', { name: 'Not now' }).click();
  await page.getByText('Very well.').waitFor();
  await leave();
});

test('what was read before a message was sent takes nothing of it away', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  const reading = Promise.withResolvers<void>();
  const said2 = Promise.withResolvers<void>();
  await page.route(
    /v1\/conversations\/[^/]+\?/,
    async (route) => {
      const response = await route.fetch();
      reading.resolve();
      await said2.promise;
      // The page does not wait for it any more.
      await route.fulfill({ response }).catch(() => undefined);
    },
    { times: 1 },
  );
  await say('first');
  await reading.promise;
  const feed = page.waitForRequest('**/events?*');
  await say('second');
  await expect.poll(() => said(page)).toEqual(['first', 'Noted.', 'second', 'Noted.']);
  said2.resolve();
  await feed;
  expect(await said(page)).toEqual(['first', 'Noted.', 'second', 'Noted.']);
  await leave();
});

test('a message that takes the place of a question stays on the screen, however early the question’s stream ends', async () => {
  const { page, say, conversation, leave } = await setup.visit({ user: 'bob' });
  const asked = new Promise<void>((resolve) => {
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end as 'requestfinished', (request) => {
        if (request.url().endsWith('/run/api/chat')) resolve();
      });
  });
  await say('ask me');
  await page.locator('.card').waitFor();
  const id = await conversation();
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes(`/v1/conversations/${id}?`)) reads.push(request.method());
  });
  let readMeanwhile: string[] = [];
  await page.route(
    '**/run/api/chat',
    async (route) => {
      // What the service does when the message arrives; only that the message is still on its way.
      await bob.request('POST', `/run/api/chat/${id}/cancel`, {});
      await asked;
      await twoFrames(page);
      readMeanwhile = [...reads];
      expect(await said(page)).toEqual(['ask me', 'Tracker: No longer needed Connect Tracker', 'never mind']);
      await route.continue();
    },
    { times: 1 },
  );
  await say('never mind');
  await expect
    .poll(() => said(page))
    .toEqual(['ask me', 'Tracker: No longer needed Connect Tracker', 'never mind', 'Noted.']);
  expect(readMeanwhile).toEqual([]);
  await expect
    .poll(() => heard(page))
    .toEqual(['turn-started', 'elicitation', 'elicitation', 'turn-ended', 'turn-started', 'turn-ended']);
  await leave();
});

test('a message that was refused beside an open question is given back, and the question stays', async () => {
  const { page, say, conversation, leave } = await setup.visit({ user: 'bob' });
  await say('ask me');
  await page.locator('.card').waitFor();
  await page.route('**/run/api/chat', (route) =>
    route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer nonsense' } }),
  );
  await say('never mind');
  await page.getByRole('alert').getByText('token').waitFor();
  // The stream of the question goes on, and takes neither the reason away nor brings the message back.
  await declineToTheEnd(await conversation());
  await page.getByText('Very well.').waitFor();
  expect(await said(page)).toEqual(['ask me', 'Tracker: You said “not now” Connect Tracker', 'Very well.']);
  expect(await page.locator('textarea').inputValue()).toBe('never mind');
  expect(await page.getByRole('alert').innerText()).toMatch(/token/);
  await leave(/status of 401/);
});

test('a turn that nobody takes up says so, until somebody does', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  const arriving = Promise.withResolvers<void>();
  worker = arriving.promise;
  const notice = page.getByText('Nobody has taken this up yet. Still waiting…');
  await say('first');
  await notice.waitFor();
  expect(await page.getByRole('button', { name: 'Stop' }).isEnabled()).toBe(true);
  await picture(page, 'nobody-at-work');
  arriving.resolve();
  worker = undefined;
  await expect.poll(() => said(page)).toEqual(['first', 'Noted.']);
  expect(await notice.count()).toBe(0);
  await leave();
});

test('a question that gives way to a message from another tab does so in both', async () => {
  const first = await setup.visit({ user: 'bob' });
  await first.say('ask me');
  await first.page.locator('.card').waitFor();
  const attributes = `conversation="${await first.conversation()}"`;
  const second = await setup.visit({ user: 'bob', context: first.context, attributes });
  await second.page.locator('.card').waitFor();
  await second.say('never mind');
  for (const { page } of [first, second])
    await expect
      .poll(() => said(page))
      .toEqual(['ask me', 'Tracker: No longer needed Connect Tracker', 'never mind', 'Noted.']);
  await second.leave();
  await first.leave();
});

test('a message that was refused is there to be mended, with the reason, however often somebody looks', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  const input = page.locator('textarea');
  await say('first');
  await page.getByText('Noted.').waitFor();
  await page.route('**/run/api/chat', (route) =>
    route.continue({ headers: { ...route.request().headers(), authorization: 'Bearer nonsense' } }),
  );
  await say('second');
  await page.getByRole('alert').getByText('token').waitFor();
  expect(await said(page)).toEqual(['first', 'Noted.']);
  expect(await input.inputValue()).toBe('second');
  const feed = page.waitForRequest('**/events?*');
  await page.evaluate(() => window.dispatchEvent(new Event('pageshow')));
  await feed;
  expect(await page.getByRole('alert').innerText()).toMatch(/token/);
  expect(await input.inputValue()).toBe('second');
  await page.unroute('**/run/api/chat');
  await input.press('Enter');
  await expect.poll(() => said(page)).toEqual(['first', 'Noted.', 'second', 'Noted.']);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(await input.inputValue()).toBe('');
  await leave(/status of 401/);
});

test('what an agent failed at is tried again as a new message', async () => {
  const { page, say, leave } = await setup.visit({ user: 'bob' });
  isModelWell = false;
  await say('first');
  await page.getByRole('alert').waitFor();
  isModelWell = true;
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => said(page)).toEqual(['first', 'first', 'Noted.']);
  expect(await page.getByRole('alert').count()).toBe(0);
  await leave();
});

test('of a long conversation the end is there first, and the rest on demand, without losing one’s place', async () => {
  const id = randomUUID();
  const texts = Array.from({ length: 33 }, (_, index) => `number ${index}`);
  for (const text of texts) await (await bob.chat(text, { conversation: id })).finished();
  const { page, say, leave } = await setup.visit({ user: 'bob', attributes: `conversation="${id}"` });
  const bubbles = page.locator('.bubble');
  await page.getByText('number 32').waitFor();
  expect(await bubbles.allInnerTexts()).toEqual(texts.slice(3));
  const earlier = page.getByRole('button', { name: 'Earlier messages' });
  await earlier.scrollIntoViewIfNeeded();
  const before = await page.getByText('number 3', { exact: true }).boundingBox();
  await earlier.click();
  await page.getByText('number 0', { exact: true }).waitFor();
  expect((await page.getByText('number 3', { exact: true }).boundingBox())?.y).toBeCloseTo(before?.y ?? 0, 0);
  expect(await bubbles.allInnerTexts()).toEqual(texts);
  expect(await earlier.count()).toBe(0);
  await (await bob.chat('elsewhere', { conversation: id })).finished();
  await page.getByText('elsewhere').waitFor();
  await say('here');
  await expect.poll(() => bubbles.allInnerTexts()).toEqual([...texts, 'elsewhere', 'here']);
  await leave();
});

test('what was never answered says so, and is asked again on demand', async () => {
  const { page, say, comeBack, leave } = await setup.visit({ user: 'bob' });
  const gate = hold();
  await say('first');
  // The agent thinks, and has not said a word.
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('There was no answer.').waitFor();
  gate.resolve();
  isModelWell = false;
  await say('second');
  await page.getByRole('alert').waitFor();
  expect(await page.getByText('There was no answer.').count()).toBe(0);
  await comeBack();
  await page.getByText('There was no answer.').waitFor();
  isModelWell = true;
  await page.getByRole('button', { name: 'Ask again' }).click();
  await expect.poll(() => said(page)).toEqual(['first', 'second', 'second', 'Noted.']);
  expect(await page.getByText('There was no answer.').count()).toBe(0);
  await leave();
});

test('four windows with a question each leave room to answer, over the six connections that a browser has', async () => {
  const windows = [await setup.visit({ user: 'bob' })];
  const [{ context }] = windows as [(typeof windows)[0]];
  while (windows.length < 4) windows.push(await setup.visit({ user: 'bob', context }));
  for (const { page, say } of windows) {
    await say('ask me');
    await page.locator('.card').waitFor();
  }
  for (const { page } of windows) {
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Very well.').waitFor();
  }
  for (const { leave } of windows.toReversed()) await leave();
});
