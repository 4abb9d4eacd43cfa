/**
 * What becomes of an account after and beside the sunny day: denied, not wanted, connected too late, revoked, not
 * renewed, not enough, disconnected in between, and asked for in two conversations at once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { launchChromium } from '../browsers/chromium.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { accountOfAlice, startServiceWithNango, until } from './service-with-nango.ts';
import type { ServiceWithNango } from './service-with-nango.ts';
import { allow, deny } from './nango-visitor.ts';
import { timetable } from './timetable.ts';

vi.setConfig({ testTimeout: 120_000 });
const times = timetable('Until the turn has ended (the life of an account)');

const temporal = useDevelopmentServer();
let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium({ isStrict: true });
});
afterAll(() => browser.close());

const questionsIn = ({ chunks }: ChatStream) =>
  chunks.filter(({ type }) => type === 'data-elicitation-request');
const rowOf = ({ service }: ServiceWithNango) => service.storage.connections.get(accountOfAlice);

test('who denies is told so, can try again, and the turn goes on', async () => {
  await using setup = await startServiceWithNango({ temporal });
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  await deny(await visitor.pressAndGetWindow('Connect Tracker'));
  const over = times.start('denied, then tried again');
  await visitor.sees('Tracker is not connected');
  expect(setup.mcp.calls).toEqual([]);
  await allow(await visitor.pressAndGetWindow('Try again'));
  await visitor.sees('Tracker is connected');
  await setup.expectDone(waiting, 'Paint');
  over('Tracker is not connected … Tracker is connected');
});

test('“Not now” ends the question; what still comes of it is there for the next turn', async () => {
  await using setup = await startServiceWithNango({ temporal });
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  const leftOpen = await visitor.alsoOpen(beside);
  const over = times.start('Not now, completed afterwards');
  await visitor.press('Not now');
  await visitor.sees('Not now, then');
  await waiting.stream.question('decline');
  await waiting.stream.finished();
  over('Not now, then');
  expect(setup.mcp.calls).toEqual([]);
  expect(await rowOf(setup)).toBeNull();

  await allow(leftOpen);
  await leftOpen.getByText('You can close this window.').waitFor();
  const next = await setup.create('Paper');
  expect(questionsIn(next)).toEqual([]);
  expect(next.text()).toContain('Created.');
  expect(setup.mcp.calls).toMatchObject([{ title: 'Paper', person: 'alice' }]);
});

test('a question that expired and is completed then: the page says so, and the next turn works', async (context) => {
  await using setup = await startServiceWithNango({ temporal, env: { ELICITATION_TIMEOUT: '15s' } });
  setup.nango.knobs(context, 'send webhooks to a new address');
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  const leftOpen = await visitor.alsoOpen(beside);
  await waiting.stream.question('expired');
  await waiting.stream.finished();
  expect(setup.mcp.calls).toEqual([]);
  await visitor.sees('This question has expired');
  const over = times.start('completed after the question had expired (until the page says so)');
  await allow(leftOpen);
  await until(async () => (await rowOf(setup)) !== null);
  await visitor.page.goto(waiting.question.url);
  await visitor.sees('Tracker is connected');
  over(`Tracker is connected: ${await visitor.page.innerText('p.lead')}`);
  const next = await setup.create('Paper');
  expect(questionsIn(next)).toEqual([]);
  expect(setup.mcp.calls).toMatchObject([{ title: 'Paper', person: 'alice' }]);
});

test('completed in the last moments, and nobody told: the look before the deadline finds it', async (context) => {
  await using setup = await startServiceWithNango({
    temporal,
    hasWebhooks: false,
    // The looks before come after 2, 5, 9.5 and 16.3 seconds, the next one would after 26.
    env: { ELICITATION_TIMEOUT: '25s' },
  });
  const double = setup.nango.knobs(context, 'count connections');
  const waiting = await setup.ask('Paint');
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  await visitor.page.close();
  const deadline = Date.parse(waiting.question.expiresAt);
  await until(() => Date.now() > deadline - 6_000, 60_000);
  await allow(beside);
  await until(() => double.connections().length === 1);
  const over = times.start('found by the last look before expiry');
  await setup.expectDone(waiting, 'Paint');
  over('(nothing; the chat goes on)');
});

test('connected from the settings page while two conversations ask: both go on, each tool runs once', async () => {
  await using setup = await startServiceWithNango({ temporal });
  const [first, second] = await Promise.all([setup.ask('Paint'), setup.ask('Paper')]);
  const visitor = await setup.visit(browser, { url: `${setup.service.baseUrl}/connections` });
  await visitor.sees('Your connections');
  await visitor.page
    .getByRole('link', { name: /Connect/ })
    .or(visitor.page.getByRole('button', { name: /Connect/ }))
    .first()
    .click();
  await visitor.sees('Connect Tracker');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  const over = times.start('from the settings page, two conversations ask');
  await allow(beside);
  await Promise.all([setup.expectDone(first, 'Paint'), setup.expectDone(second, 'Paper')]);
  over('Your connections: Tracker connected as alice@acme.test');
  await visitor.sees('Your connections');
  expect(await visitor.page.innerText('main')).toContain('alice@acme.test');
  expect(setup.mcp.calls).toHaveLength(2);
  for (const { stream } of [first, second]) expect(questionsIn(stream).length).toBeLessThanOrEqual(2);
});

test('disconnected while somebody is at the provider: what comes of it is ended at Nango, and trying again works', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'count connections');
  await setup.isConnected();
  const alice = await setup.service.as('alice');
  // On the way to a second account, from the settings page.
  const visitor = await setup.visit(browser, {
    url: `${setup.service.baseUrl}/connections`,
  });
  await visitor.sees('Your connections');
  await visitor.page.getByText('Reconnect').click();
  await visitor.sees('Connect Tracker again');
  const beside = await visitor.pressAndGetWindow('Connect Tracker');
  const leftOpen = await visitor.alsoOpen(beside);
  expect((await alice.request('DELETE', '/run/v1/connections/tracker')).status).toBe(200);
  expect(double.connections()).toEqual([]);
  await visitor.sees('Connect Tracker again');
  await allow(leftOpen, 'Bob');
  await double.delivered(2);
  await until(() => double.connections().length === 0);
  expect(await rowOf(setup)).toBeNull();

  const over = times.start('disconnected in between, then asked anew');
  const waiting = await setup.ask('Paint');
  expect(waiting.question.context['reason']).toBe('missing');
  await setup.connect(waiting.question);
  await setup.expectDone(waiting, 'Paint');
  over('Connect Tracker (missing)');
});

test('revoked at the provider: one new question with the reason, the same connection at Nango, and the tool runs once', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  const double = setup.nango.knobs(context, 'count connections');
  await setup.isConnected();
  const [{ connectionId } = { connectionId: '' }] = double.connections();
  setup.nango.provider.revoke('alice');
  const over = times.start('revoked at the provider');
  const waiting = await setup.ask('Paint');
  expect(waiting.question.context['reason']).toBe('rejected');
  await setup.connect(waiting.question);
  await setup.expectDone(waiting, 'Paint');
  over(`Connect Tracker again: ${waiting.question.message}`);
  expect(
    questionsIn(waiting.stream).filter(({ data }) => (data as { status: string }).status === 'pending'),
  ).toHaveLength(1);
  expect(double.connections().map((one) => one.connectionId)).toEqual([connectionId]);
  expect(Object.keys(double.connections()[0]?.tags ?? {})).not.toEqual([]);
  expect(await rowOf(setup)).toMatchObject({ version: 2, status: 'active' });
});

test.concurrent('a refresh that was refused once is no reason to ask; the next one helps', async (context) => {
  await using setup = await startServiceWithNango({ temporal, nango: { tokenLifeMs: 3_000 } });
  const double = setup.nango.knobs(context, 'refuse to refresh');
  await setup.isConnected();
  await delay(3_000);
  double.failRefresh('outage');
  const over = times.start('refresh refused once (outage at the provider)');
  const stream = await setup.say('Paint');
  await until(() => setup.nango.provider.tokenRequests.some(({ status }) => status === 500));
  double.failRefresh(null);
  await stream.finished();
  over('(nothing; the answer comes)');
  expect(questionsIn(stream)).toEqual([]);
  expect(stream.text()).toContain('Created.');
});

test.concurrent('a refresh that is refused for good: one new question, “revoked”, after half a minute', async (context) => {
  await using setup = await startServiceWithNango({ temporal, nango: { tokenLifeMs: 3_000 } });
  const double = setup.nango.knobs(context, 'refuse to refresh');
  await setup.isConnected();
  await delay(3_000);
  double.failRefresh('invalid_grant');
  const over = times.start('refresh refused for good');
  const stream = await setup.say('Paint');
  // As patient as anybody: half a minute of Nango's, then the question.
  const question = await stream.question('pending');
  expect(question.context['reason']).toBe('revoked');
  double.failRefresh(null);
  double.tokenLifeMs = 3_600_000;
  await setup.connect(question);
  await setup.expectDone({ stream }, 'Paint');
  over(`Connect Tracker again: ${question.message}`);
  expect(double.connections()).toHaveLength(1);
});

test('not enough permissions: asks for exactly those that are missing, and the provider is asked for all', async (context) => {
  await using setup = await startServiceWithNango({ temporal });
  setup.nango.knobs(context, 'grant what the integration does not name');
  await setup.isConnected();
  setup.mcp.refuse = 'insufficient_scope';
  const over = times.start('not enough permissions');
  const waiting = await setup.ask('Paint');
  expect(waiting.question.context['reason']).toBe('insufficient_scope');
  setup.mcp.refuse = null;
  const visitor = await setup.visit(browser, waiting.question);
  await visitor.sees('Connect Tracker again');
  const asked = await visitor.page.innerText('main');
  expect(asked).toContain('issues:admin');
  expect(asked).not.toContain('issues:write');
  await allow(await visitor.pressAndGetWindow('Connect Tracker'));
  await setup.expectDone(waiting, 'Paint');
  over(`Connect Tracker again: ${waiting.question.message}`);
  const scope = setup.nango.provider.authorizations.at(-1)?.get('scope')?.split(' ').toSorted();
  expect(scope).toEqual(['issues:admin', 'issues:read', 'issues:write']);
});
