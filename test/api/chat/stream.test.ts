import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TurnEvent } from '../../../src/turn/event.ts';
import { keptStep } from '../../storage/contract/fixtures.ts';
import { beginTurn, startApi } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';

let api: ApiUnderTest;
let address: string;
beforeAll(async () => {
  api = await startApi();
  address = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => api.stop());

const userMessage = {
  id: 'm1',
  role: 'user',
  // As the turns here began.
  parts: [{ type: 'text', text: 'hello' }],
};

describe('a turn that is running', () => {
  async function said(conversation: string, texts: string[]) {
    const turn = await beginTurn(api.storage, conversation);
    await api.storage.turnLog.append(turn, [
      { key: 'step', event: { type: 'start-step', step: 1 } },
      { key: 'start', event: { type: 'text-start', id: 't' } },
      ...texts.map((delta, index) => ({
        key: `delta-${index}`,
        event: { type: 'text-delta', id: 't', delta } as const,
      })),
      { key: 'end', event: { type: 'text-end', id: 't' } },
      { key: 'finish', event: { type: 'finish-step', step: 1 } },
    ]);
    return turn;
  }

  test('is replayed from its start and followed to its end', async () => {
    const turn = await said('followed', ['Hel', 'lo']);
    const response = await fetch(`${address}/run/api/chat/followed/stream`, {
      headers: api.headers('alice'),
    });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'x-vercel-ai-ui-message-stream': 'v1',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
      'x-turn-id': turn.turnId,
    });
    // The headers are here although the turn goes on; now it ends.
    await api.storage.turns.end(turn, 'completed');
    const body = await response.text();
    const events = body.split('\n\n').filter((line) => line.startsWith('data: '));
    expect(events).toEqual([
      'data: {"type":"start","messageId":"turn-of-followed"}',
      'data: {"type":"start-step"}',
      'data: {"type":"text-start","id":"t"}',
      'data: {"type":"text-delta","id":"t","delta":"Hel"}',
      'data: {"type":"text-delta","id":"t","delta":"lo"}',
      'data: {"type":"text-end","id":"t"}',
      'data: {"type":"finish-step"}',
      'data: {"type":"finish"}',
      'data: [DONE]',
    ]);
  });

  test('is what the same client message joins, and stream: false waits for its end', async () => {
    const turn = await said('joined', ['Hello']);
    const response = api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      payload: { id: 'joined', messages: [userMessage], stream: false },
    });
    await keptStep(api.storage, turn, { usage: { inputTokens: 3, outputTokens: 4 } });
    await api.storage.turns.end(turn, 'completed');
    const { statusCode, headers, body } = await response;
    expect([statusCode, headers['x-turn-id']]).toEqual([200, turn.turnId]);
    expect(JSON.parse(body)).toEqual({
      conversationId: 'joined',
      turnId: turn.turnId,
      status: 'completed',
      message: {
        id: turn.turnId,
        role: 'assistant',
        parts: [{ type: 'step-start' }, { type: 'text', text: 'Hello', state: 'done' }],
      },
      usage: { inputTokens: 3, outputTokens: 4 },
    });
  });
});

test('a JSON answer leaves out what the model took back, however late it did', async () => {
  const turn = await beginTurn(api.storage, 'taken-back');
  const arrived = once(api.app.server, 'request');
  const answer = fetch(`${address}/run/api/chat`, {
    method: 'POST',
    headers: { ...api.headers('alice'), 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'taken-back', messages: [userMessage], stream: false }),
  });
  await arrived;
  const tell = async (events: TurnEvent[]) => {
    const keyed = events.map((event) => ({ key: randomUUID(), event }));
    await api.storage.turnLog.append(turn, keyed);
  };
  const watching = await fetch(`${address}/run/api/chat/taken-back/stream`, {
    headers: api.headers('alice'),
  });
  const watched = watching.body?.pipeThrough(new TextDecoderStream()).getReader();
  await tell([
    { type: 'start-step', step: 0 },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Void.' },
  ]);
  // A reader has it on their screen.
  for (let seen = ''; !seen.includes('Void.');) seen += (await watched?.read())?.value;
  await tell([
    { type: 'reset-step', step: 0 },
    { type: 'start-step', step: 0 },
    { type: 'text-start', id: 'u' },
    { type: 'text-delta', id: 'u', delta: 'Real.' },
    { type: 'text-end', id: 'u' },
    { type: 'finish-step', step: 0 },
  ]);
  await api.storage.turns.end(turn, 'completed');
  expect(await (await answer).json()).toMatchObject({
    message: { parts: [{ type: 'step-start' }, { type: 'text', text: 'Real.' }] },
  });
  await watched?.cancel();
});

test('a turn that ended before it said anything is an answer without parts', async () => {
  const turn = await beginTurn(api.storage, 'silent');
  await api.storage.turns.end(turn, 'cancelled');
  const response = await api.send('alice', {
    method: 'POST',
    url: '/run/api/chat',
    payload: { id: 'silent', messages: [userMessage], stream: false },
  });
  expect([response.statusCode, response.json()]).toMatchObject([
    200,
    { status: 'cancelled', message: { id: turn.turnId, role: 'assistant', parts: [] }, usage: null },
  ]);
});

test('operations are told in a JSON answer, too, to those who ask', async () => {
  const turn = await beginTurn(api.storage, 'operations');
  await api.storage.turnLog.append(turn, [{ key: 'step', event: { type: 'start-step', step: 0 } }]);
  await api.storage.turns.end(turn, 'completed');
  const ask = (headers: Record<string, string>) =>
    api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers,
      payload: { id: 'operations', messages: [userMessage], stream: false },
    });
  const told = await ask({ 'x-emit-operations': 'true' });
  expect(told.json().message.parts).toMatchObject([
    {
      type: 'data-operation',
      id: `op-step-${turn.turnId}-0`,
      data: { type: 'model_step', details: { agent: 'assistant' } },
    },
    { type: 'step-start' },
  ]);
  expect((await ask({})).json().message.parts).toEqual([{ type: 'step-start' }]);
});

describe('a service that closes', () => {
  test('cuts its streams without a finish, so that their readers resume elsewhere', async () => {
    const closing = await startApi();
    await beginTurn(closing.storage, 'cut');
    const address = await closing.app.listen({ port: 0, host: '127.0.0.1' });
    const headers = closing.headers('alice');
    const stream = await fetch(`${address}/run/api/chat/cut/stream`, { headers });
    const arrived = once(closing.app.server, 'request');
    const whole = fetch(`${address}/run/api/chat`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'cut', messages: [userMessage], stream: false }),
    });
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes('"type":"start"')) seen += (await reader?.read())?.value;
    await arrived;
    await closing.stop();
    for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) seen += next.value;
    expect(seen).not.toMatch(/finish|DONE|abort/);
    const unfinished = await whole;
    expect([unfinished.status, await unfinished.json()]).toMatchObject([
      503,
      { code: 'unavailable', turnId: 'turn-of-cut' },
    ]);
  });
});
