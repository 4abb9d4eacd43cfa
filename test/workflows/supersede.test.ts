/** A new message while a turn is live, and its cancellation: whole turns on a real server. */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Chunk, ElicitationData } from '../service/chat-stream.ts';
import { connectAccount } from '../service/connect-account.ts';
import { createFreshServices } from '../service/fresh-services.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import type { Caller } from '../service/user.ts';
import { idOf } from './waiting.ts';

const temporal = useDevelopmentServer();
let service: Service;
let alice: Caller;
let conversation: string;

const services = createFreshServices(() => startService({ temporal }));
afterAll(() => services[Symbol.asyncDispose]());
beforeEach(async () => {
  service = await services.take();
  alice = await service.as('alice');
  conversation = randomUUID();
});
afterEach(() => services.giveBack(service));

const listing = 'list my open issues';
const statusesIn = (chunks: Chunk[]) =>
  chunks.flatMap(({ type, data }) =>
    type === 'data-elicitation-request' ? [(data as ElicitationData).status] : [],
  );

function post(text: string, more: object = {}, headers: Record<string, string> = {}) {
  const message = { id: randomUUID(), role: 'user', parts: [{ type: 'text', text }] };
  const body = { id: conversation, messages: [message], stream: false, ...more };
  return alice.request('POST', '/run/api/chat', body, headers);
}

const statusOf = async (turnId: string) =>
  (await service.storage.turns.get({ tenant: 'demo', conversation, turnId }))?.status;

describe('while the turn only waits for a person, a new message', () => {
  test('takes its place: the question closes, the stream ends, the new turn answers', async () => {
    const waiting = await alice.chat(listing, { conversation });
    const question = await waiting.question('pending');
    const next = await alice.chat('hello', { conversation });
    await next.finished();
    expect(next.text()).toBe('You said: hello');
    const chunks = await waiting.finished();
    expect(statusesIn(chunks)).toEqual(['pending', 'cancel']);
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    expect(await statusOf(waiting.turnId)).toBe('superseded');
    expect(service.tracker.calls).toEqual([]);
    const late = { conversationId: conversation, elicitationId: question.elicitationId, action: 'decline' };
    expect(await alice.answer(late)).toMatchObject({ status: 410, body: { code: 'turn_over' } });
  });

  test('leaves words for the model about the call that waited', async () => {
    const waiting = await alice.chat(listing, { conversation });
    await waiting.question('pending');
    await (await alice.chat('hello', { conversation })).finished();
    const messages = await service.storage.messages.list({ tenant: 'demo', conversation });
    const results = messages.filter(({ role }) => role === 'tool');
    expect(JSON.stringify(results)).toContain('sent a new message instead');
  });

  test('that is sent twice at once makes one turn, and of two different ones the other is refused', async () => {
    const waiting = await alice.chat(listing, { conversation });
    await waiting.question('pending');
    const message = { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'hello' }] };
    const same = await Promise.all([post('', { messages: [message] }), post('', { messages: [message] })]);
    expect(same.map(({ status }) => status)).toEqual([200, 200]);
    expect(same[0]?.body['turnId']).toBe(same[1]?.body['turnId']);

    const held = await alice.chat(listing, { conversation });
    await held.question('pending');
    const asking = [alice.chat(listing, { conversation }), alice.chat(listing, { conversation })];
    const settled = await Promise.allSettled(asking);
    // The second one meets a turn at work, or one that waits again already and makes room.
    expect(settled.some(({ status }) => status === 'fulfilled')).toBe(true);
    const refusals = settled.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    expect(refusals.filter((refusal) => !refusal.includes('turn_in_progress'))).toEqual([]);
    await alice.cancel(conversation);
    for (const one of settled) if (one.status === 'fulfilled') await one.value.finished();
  });

  test('counts less than an answer that came before it', async () => {
    const waiting = await alice.chat(listing, { conversation });
    const question = await waiting.question('pending');
    const held = service.tracker.faults.hold('before');
    await connectAccount('alice', question.url);
    await held.arrived;
    const refused = await post('hello');
    expect(refused).toMatchObject({ status: 409, body: { turnId: waiting.turnId } });
    held.release();
    await waiting.finished();
    expect(await statusOf(waiting.turnId)).toBe('completed');
    expect(service.tracker.calls).toHaveLength(1);
  });
});

describe('while the turn is at work, a new message', () => {
  async function atWork() {
    const first = await alice.chat(listing, { conversation });
    await connectAccount('alice', (await first.question('pending')).url);
    await first.finished();
    const held = service.tracker.faults.hold('before');
    const working = await alice.chat(listing, { conversation });
    await held.arrived;
    return { held, working };
  }

  test("is refused with the live turn's id, and nothing changes", async () => {
    const { held, working } = await atWork();
    expect(await post('hello')).toMatchObject({
      status: 409,
      body: { code: 'turn_in_progress', turnId: working.turnId },
    });
    held.release();
    await working.finished();
    expect(await statusOf(working.turnId)).toBe('completed');
  });

  test('with onBusy "cancel" cancels it and is answered', async () => {
    const { held, working } = await atWork();
    const answered = await post('hello', { onBusy: 'cancel' });
    held.release();
    expect(answered).toMatchObject({ status: 200, body: { status: 'completed' } });
    expect((await working.finished()).at(-1)).toMatchObject({ type: 'abort' });
    expect(await statusOf(working.turnId)).toBe('cancelled');
  });
});

describe('an Idempotency-Key', () => {
  test('makes one turn of a request that is sent again, whatever ids its message has', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const message = { role: 'user', parts: [{ type: 'text', text: 'hello' }] };
    const send = () => post('', { id: undefined, messages: [message] }, key);
    const [first, second] = await Promise.all([send(), send()]);
    const third = await send();
    expect([first, second, third].map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set([first, second, third].map(({ body }) => body['turnId'])).size).toBe(1);
  });

  test('cannot name two messages', async () => {
    const key = { 'idempotency-key': randomUUID() };
    expect((await post('hello', {}, key)).status).toBe(200);
    expect(await post('hello again', {}, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
  });
});

test('cancelling the turn closes its question and ends the stream', async () => {
  const stream = await alice.chat(listing, { conversation });
  const { elicitationId } = await stream.question('pending');
  expect(await alice.cancel(conversation)).toMatchObject({ status: 200, body: { status: 'cancelling' } });
  await stream.question('cancel');
  expect((await stream.finished()).map(({ type }) => type)).toContain('abort');
  const late = await alice.answer({ conversationId: conversation, elicitationId, action: 'decline' });
  expect(late).toMatchObject({ status: 410, body: { code: 'turn_over' } });
  // The conversation is free again, and the model can be asked about what was not run.
  const next = await alice.chat('hello', { conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
  await temporal.client.workflow.getHandle(idOf({ conversation, stream })).result();
  expect(await alice.cancel(conversation)).toMatchObject({ status: 200, body: { status: 'idle' } });
});

test('a message that follows a cancellation waits for the end of the turn', async () => {
  const first = await alice.chat(listing, { conversation });
  await connectAccount('alice', (await first.question('pending')).url);
  await first.finished();
  const held = service.tracker.faults.hold('before');
  const working = await alice.chat(listing, { conversation });
  await held.arrived;
  await alice.cancel(conversation);
  const answered = await post('hello');
  held.release();
  expect(answered).toMatchObject({ status: 200, body: { status: 'completed' } });
  await working.finished();
  expect(await statusOf(working.turnId)).toBe('cancelled');
});
