/**
 * A worker that hears nothing for a while is taken for dead, and its step goes to another one. When it goes on, both are
 * at the same step: what the earlier attempt still writes must not count, and the workflow must not run its calls.
 */
import { CancelledFailure } from '@temporalio/common';
import { expect, test } from 'vitest';
import { activityEnvironment, openModelStep, turn } from './model-step.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { Reply } from '../../servers/openai-server.ts';

const list = 'tracker__list_issues';
const asksFor = (id: string, say: string): Reply => ({
  kind: 'tool-calls',
  say,
  calls: [{ id, name: list, arguments: '{}' }],
});

/** How an attempt ended that may not go on. */
async function refusal(attempt: Promise<unknown>): Promise<unknown> {
  return attempt.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

test('an attempt whose model answers after the next attempt has finished changes nothing', async () => {
  const late = Promise.withResolvers<Reply>();
  await using it = await openModelStep(late.promise, asksFor('of-the-second', 'Second.'));
  const arrival = it.server.next();
  const first = refusal(it.callModel());
  await arrival;
  const second = await it.callModel({ attempt: 2 });
  expect(second.toolCalls.map(({ toolCallId }) => toolCallId)).toEqual(['of-the-second']);
  const before = { log: await it.events(), messages: await it.storage.messages.list(turn) };

  late.resolve(asksFor('of-the-first', 'First.'));
  expect(await first).toMatchObject({ name: 'WriteRefused', reason: 'newer-attempt' });
  expect(await it.events()).toEqual(before.log);
  expect(await it.storage.messages.list(turn)).toEqual(before.messages);
  expect((await it.storage.toolCalls.unfinished(turn)).map(({ toolCallId }) => toolCallId)).toEqual([
    'of-the-second',
  ]);
  expect((await it.storage.turns.get(turn))?.usage).toEqual({ inputTokens: 11, outputTokens: 7 });
  expect(it.logged()).not.toMatch(/"level":[456]0/);
});

test('an attempt that goes on while the next one speaks is cut off, and the next one finishes', async () => {
  const more = Promise.withResolvers<string>();
  async function* hesitating() {
    yield 'First';
    yield await more.promise;
  }
  const late = Promise.withResolvers<Reply>();
  await using it = await openModelStep({ kind: 'text', chunks: hesitating() }, late.promise);
  const first = refusal(it.callModel());
  await saidInLog(it, 'First');
  const arrival = it.server.next();
  const second = it.callModel({ attempt: 2 });
  await arrival;
  await eventInLog(it, 'reset-step');
  more.resolve(' said');
  expect(await first).toMatchObject({ name: 'WriteRefused', reason: 'newer-attempt' });
  late.resolve({ kind: 'text', chunks: ['Second'] });
  expect(await second).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
  // What the first has said goes when the second begins.
  expect(await it.story()).toEqual([
    'reset-step',
    'start-step',
    'text-start',
    'text-delta: Second',
    'text-end',
    'finish-step',
  ]);
});

test('an attempt that begins after a later one has begun asks no model', async () => {
  const late = Promise.withResolvers<Reply>();
  await using it = await openModelStep(late.promise);
  const arrival = it.server.next();
  const second = it.callModel({ attempt: 2 });
  await arrival;
  expect(await refusal(it.callModel())).toMatchObject({ reason: 'newer-attempt' });
  late.resolve({ kind: 'text', chunks: ['Yes.'] });
  expect(await second).toEqual({ finish: 'stop', toolCalls: [], hasEnded: true });
  expect(it.server.requests).toHaveLength(1);
});

test('an attempt that begins after an earlier one has finished answers with what that one kept', async () => {
  await using it = await openModelStep(asksFor('of-the-first', 'First.'));
  const first = await it.callModel();
  const log = await it.events();
  for (const attempt of [2, 3]) expect(await it.callModel({ attempt })).toEqual(first);
  expect(await it.events()).toEqual(log);
  expect(it.server.requests).toHaveLength(1);
});

test('a turn that has ended takes nothing more of its step, and the model is let go', async () => {
  const more = Promise.withResolvers<string>();
  async function* endless() {
    yield 'Once';
    yield await more.promise;
    await new Promise(() => undefined);
  }
  await using it = await openModelStep({ kind: 'text', chunks: endless() });
  const arrival = it.server.next();
  const running = refusal(it.callModel({ storage: unheard(it.storage) }));
  const { ended } = await arrival;
  await saidInLog(it, 'Once');
  await it.storage.turns.end(turn, 'cancelled');
  const before = await it.events();
  more.resolve(' upon a time');
  expect(await running).toMatchObject({ name: 'WriteRefused', reason: 'turn-ended' });
  expect(await ended).toBe('left');
  expect(await it.events()).toEqual(before);
  expect(before.at(-1)).toMatchObject({ type: 'turn-ended' });
  expect(await it.storage.messages.list(turn)).toHaveLength(1);
  expect(it.logged()).not.toMatch(/"level":[456]0/);
});

test('a turn that ends while its model says the last word keeps none of it', async () => {
  const late = Promise.withResolvers<Reply>();
  await using it = await openModelStep(late.promise);
  const arrival = it.server.next();
  const running = refusal(it.callModel({ storage: unheard(it.storage) }));
  await arrival;
  await it.storage.turns.end(turn, 'cancelled');
  late.resolve(asksFor('too-late', 'There.'));
  expect(await running).toMatchObject({ reason: 'turn-ended' });
  expect((await it.events()).at(-1)).toMatchObject({ type: 'turn-ended' });
  expect(await it.storage.messages.list(turn)).toHaveLength(1);
  expect(await it.storage.toolCalls.unfinished(turn)).toEqual([]);
  expect((await it.storage.turns.get(turn))?.usage).toBeNull();
});

test('a cancelled attempt that is refused besides ends as cancelled', async () => {
  const late = Promise.withResolvers<Reply>();
  await using it = await openModelStep(late.promise);
  const environment = activityEnvironment();
  const arrival = it.server.next();
  const running = refusal(it.callModel({ environment }));
  await arrival;
  await it.storage.turns.end(turn, 'cancelled');
  environment.cancel();
  expect(await running).toBeInstanceOf(CancelledFailure);
});

/** One that does not announce a turn's end, as with processes that miss notifications. */
function unheard(storage: Storage): Storage {
  return { ...storage, turns: { ...storage.turns, whenEnding: () => new Promise(() => undefined) } };
}

type ModelStep = Awaited<ReturnType<typeof openModelStep>>;

async function eventInLog(it: ModelStep, type: string): Promise<void> {
  const stop = new AbortController();
  for await (const entries of it.storage.turnLog.follow(turn, 0, stop.signal))
    if (entries.some(({ event }) => event.type === type)) return;
}

async function saidInLog(it: ModelStep, words: string): Promise<void> {
  const stop = new AbortController();
  let said = '';
  for await (const entries of it.storage.turnLog.follow(turn, 0, stop.signal)) {
    for (const { event } of entries) if (event.type === 'text-delta') said += event.delta;
    if (said.includes(words)) return;
  }
}
