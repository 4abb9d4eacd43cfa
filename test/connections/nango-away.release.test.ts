/**
 * Nango is down, limits the rate, or does not answer. Nobody is asked to connect because of it: what can wait goes on when
 * Nango is back, and what cannot ends with an error that says why. Each test takes half a minute; they run concurrently.
 */
import type { Browser } from 'playwright-core';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launchChromium } from '../browsers/chromium.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { accountOfAlice, startServiceWithNango, until } from './service-with-nango.ts';
import type { ServiceWithNango } from './service-with-nango.ts';
import { allow } from './nango-visitor.ts';
import { timetable } from './timetable.ts';

vi.setConfig({ testTimeout: 120_000 });
const times = timetable('Until the turn has ended (Nango away)');
const awayMs = 30_000;

const temporal = useDevelopmentServer();
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium({ isStrict: true });
});
afterAll(() => browser.close());

const questionsIn = ({ chunks }: ChatStream) =>
  chunks.filter(({ type }) => type === 'data-elicitation-request');

/** Connected, with tokens that have expired, so that every call has to ask Nango. */
async function openConnected(): Promise<ServiceWithNango> {
  const setup = await startServiceWithNango({ temporal, nango: { tokenLifeMs: 3_000 } });
  await setup.isConnected();
  await delay(3_000);
  return setup;
}

test.concurrent('away for 30 s while a tool call needs its token: it waits, and asks nothing', async (context) => {
  await using setup = await openConnected();
  const double = setup.nango.knobs(context, 'be away');
  await double.down();
  const over = times.start('away for 30 s while a call needs its token');
  const stream = await setup.say('Paint');
  await delay(awayMs);
  expect(setup.mcp.calls).toEqual([]);
  await double.up();
  await stream.finished();
  over('(nothing; the answer comes)');
  expect(questionsIn(stream)).toEqual([]);
  expect(stream.text()).toContain('Created.');
  expect(setup.mcp.calls).toMatchObject([{ title: 'Paint', person: 'alice' }]);
});

test.concurrent('away for longer than a call waits: the turn ends in words, nobody is asked, and the tool never ran', async (context) => {
  await using setup = await openConnected();
  const double = setup.nango.knobs(context, 'be away');
  await double.down();
  const over = times.start('away for good');
  const stream = await setup.say('Paint');
  const chunks = await stream.finished();
  over('tool error: … cannot be reached right now');
  expect(questionsIn(stream)).toEqual([]);
  const error = chunks.find(({ type }) => type === 'tool-output-error')?.['errorText'];
  expect(error).toContain('cannot be reached right now');
  expect(error).toContain('did not run');
  expect(setup.mcp.calls).toEqual([]);
  await double.up();
  expect((await setup.create('Paper')).text()).toContain('Created.');
});

test.concurrent('away for 30 s while the page is open: it says so, and trying again works', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'be away');
  const waiting = await setup.ask('Paint');
  await double.down();
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const over = times.start('away for 30 s while the page is open');
  await visitor.press('Connect Tracker');
  await visitor.sees('Tracker could not be connected');
  expect(await visitor.page.innerText('main')).toContain('cannot be reached right now');
  await delay(awayMs);
  await double.up();
  const beside = await visitor.pressAndGetThere('Try again');
  await allow(beside);
  await visitor.sees('Tracker is connected');
  await setup.expectDone(waiting, 'Paint');
  over('Tracker could not be connected … Tracker is connected');
});

test.concurrent('away for 30 s right after consent, nobody told: it is found, and history did not grow', async (context) => {
  await using setup = await startServiceWithNango({ temporal, hasWebhooks: false });
  const double = setup.nango.knobs(context, 'be away');
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  await visitor.page.close();
  double.dropSuccessFrame = true;
  const before = await setup.historyLength(waiting.conversation);
  double.hang = true;
  const over = times.start('away for 30 s right after consent, nobody told');
  await allow(beside);
  await until(() => double.connections().length === 1);
  await double.down();
  double.hang = false;
  await delay(awayMs);
  expect(await setup.historyLength(waiting.conversation)).toBe(before);
  await double.up();
  await setup.expectDone(waiting, 'Paint');
  over('(nothing; the chat goes on)');
});

test.concurrent('too much to do (429): it is asked again when it said, and nobody is asked anything', async (context) => {
  await using setup = await openConnected();
  const double = setup.nango.knobs(context, 'refuse requests');
  double.rateLimit(4);
  const before = double.count('GET', '/connections/*');
  const over = times.start('429 with Retry-After: 4');
  const stream = await setup.say('Paint');
  await until(() => double.count('GET', '/connections/*') > before);
  await delay(1_000);
  expect(double.count('GET', '/connections/*')).toBe(before + 1);
  double.rateLimit(null);
  await stream.finished();
  over('(nothing; the answer comes)');
  expect(questionsIn(stream)).toEqual([]);
  expect(setup.mcp.calls).toMatchObject([{ title: 'Paint', person: 'alice' }]);
});

test.concurrent('it answers nothing: every request is given up, and a page is not kept waiting', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'hang');
  const waiting = await setup.ask('Paint');
  double.hang = true;
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const over = times.start('answers nothing while the page is open');
  await visitor.press('Connect Tracker');
  await visitor.sees('Tracker could not be connected');
  double.hang = false;
  const beside = await visitor.pressAndGetThere('Try again');
  await allow(beside);
  await setup.expectDone(waiting, 'Paint');
  over('Tracker could not be connected … Tracker is connected');
  expect(await setup.service.storage.connections.get(accountOfAlice)).toMatchObject({ version: 1 });
});
