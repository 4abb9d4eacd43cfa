/** Starting, joining, refusing and cancelling turns against a real Temporal server on which no worker runs. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requireNamespace } from '../../src/platform/temporal/namespace.ts';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { ask, startApi, tenant } from '../api/api-under-test.ts';
import type { ApiUnderTest, Who } from '../api/api-under-test.ts';
import { keptStep } from '../storage/contract/fixtures.ts';

const stack = new AsyncDisposableStack();
let client: Client;
let api: ApiUnderTest;
let url: string;

beforeAll(async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-turns-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const temporal = { namespace: 'default', port: 0, uiPort: 0 };
  const server = await startTemporalServer({
    temporal,
    dataDir,
    logger: pino({ level: 'silent' }),
  });
  stack.defer(() => server.stop());
  const { address } = server;
  const connection = await Connection.connect({ address });
  stack.defer(() => connection.close());
  await requireNamespace(connection, 'default');
  client = new Client({ connection });
  api = await startApi({ temporal: address });
  stack.defer(() => api.stop());
  url = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(() => stack.disposeAsync());

async function chat(conversation: string, messageId: string, who: Who = 'alice') {
  const hangUp = new AbortController();
  const response = await fetch(`${url}/run/api/chat`, {
    method: 'POST',
    headers: { ...api.headers(who), 'content-type': 'application/json' },
    body: JSON.stringify({
      id: conversation,
      messages: [{ id: messageId, role: 'user', parts: [{ type: 'text', text: 'a secret wish' }] }],
    }),
    signal: hangUp.signal,
  });
  const turnId = response.headers.get('x-turn-id');
  if (response.status !== 200) return { status: response.status, turnId, body: await response.json() };
  return {
    status: response.status,
    turnId,
    body: null,
    hangUp: () => hangUp.abort(),
    text: () => response.text(),
  };
}

const handleOf = (conversation: string, turnId: string | null) =>
  client.workflow.getHandle(turnWorkflowId({ tenant, conversation, turnId: turnId ?? '' }));

test('with Temporal and the database there, all that the API lacks is a worker', async () => {
  const response = await api.app.inject('/readyz');
  expect([response.statusCode, response.json()]).toEqual([
    200,
    {
      status: 'ready',
      warnings: [
        {
          name: 'workers',
          detail: 'no worker polls task queue "interlude"; start one (interlude worker)',
        },
      ],
    },
  ]);
});

describe('a message', () => {
  test('starts a turn whose workflow carries ids and no words', async () => {
    const conversation = randomUUID();
    const { status, turnId } = await chat(conversation, 'm1');
    expect(status).toBe(200);
    const workflow = handleOf(conversation, turnId);
    expect((await workflow.describe()).status.name).toBe('RUNNING');
    const history = await workflow.fetchHistory();
    expect(JSON.stringify(history)).not.toContain(Buffer.from('secret wish').toString('base64').slice(0, 12));
    expect(await api.storage.turns.byClientMessage({ tenant, conversation }, 'm1')).toMatchObject({
      turnId,
      status: 'starting',
    });
  });

  test('sent again joins the turn it started, instead of starting another', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    expect(await chat(conversation, 'm1')).toMatchObject({ status: 200, turnId: first.turnId });
  });

  test('sent twice at once makes one turn', async () => {
    const conversation = randomUUID();
    const both = await Promise.all([chat(conversation, 'm1'), chat(conversation, 'm1')]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect(both[0]?.turnId).toBe(both[1]?.turnId);
  });

  test('into a conversation with a live turn is a 409 that names that turn, and leaves nothing behind', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const second = await chat(conversation, 'm2');
    expect(second).toMatchObject({
      status: 409,
      turnId: first.turnId,
      body: { code: 'turn_in_progress', turnId: first.turnId },
    });
    expect(await api.storage.turns.byClientMessage({ tenant, conversation }, 'm2')).toBeNull();
  });

  test('never joins the turn of another user who was quicker to use the same ids', async () => {
    const conversation = randomUUID();
    await chat(conversation, 'm1');
    const bobs = await chat(conversation, 'm1', 'bob');
    expect(bobs).toMatchObject({ status: 404, body: { code: 'conversation_not_found' } });
  });

  test('takes the place of a turn that only waits for people, in one transaction, without a worker', async () => {
    const { conversation, turn, elicitationId } = await asked();
    const next = await chat(conversation, 'm2');
    expect(next.status).toBe(200);
    expect(await api.storage.turns.get(turn)).toMatchObject({ status: 'superseded' });
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
    expect((await handleOf(conversation, next.turnId).describe()).status.name).toBe('RUNNING');
  });

  test('that follows a cancellation waits for the end of the turn', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const turn = { tenant, conversation, turnId: first.turnId ?? '' };
    await api.storage.turns.begin(turn);
    await api.storage.turns.cancel(turn);
    const second = chat(conversation, 'm2');
    await api.storage.turns.end(turn, 'cancelled');
    expect((await second).status).toBe(200);
  });

  test('starts a new turn once the last one has ended, whatever its workflow does', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const turn = { tenant, conversation, turnId: first.turnId ?? '' };
    await api.storage.turns.begin(turn);
    await api.storage.turns.end(turn, 'completed');
    const second = await chat(conversation, 'm2');
    expect(second.status).toBe(200);
    expect(second.turnId).not.toBe(first.turnId);
  });
});

/** A turn that waits for alice. */
async function asked() {
  const conversation = randomUUID();
  const { turnId } = await chat(conversation, 'm1');
  const turn = { tenant, conversation, turnId: turnId ?? '' };
  await api.storage.turns.begin(turn);
  await keptStep(api.storage, turn, {
    calls: [{ toolCallId: 'call', toolName: 'tracker__list', input: {} }],
  });
  const workflowId = turnWorkflowId(turn);
  const elicitationId = await ask(api.storage, turn, { waiter: { toolCallId: 'call', workflowId } });
  return { conversation, turn, elicitationId };
}

describe('a turn that nobody works on yet', () => {
  test('is found by a client that comes back', async () => {
    const conversation = randomUUID();
    const { turnId } = await chat(conversation, 'm1');
    const hangUp = new AbortController();
    const response = await fetch(`${url}/run/api/chat/${conversation}/stream`, {
      headers: api.headers('alice'),
      signal: hangUp.signal,
    });
    expect([response.status, response.headers.get('x-turn-id')]).toEqual([200, turnId]);
    hangUp.abort();
  });

  test('can be cancelled, again and again', async () => {
    const conversation = randomUUID();
    const { turnId } = await chat(conversation, 'm1');
    const url = `/run/api/chat/${conversation}/cancel`;
    const cancel = async () => (await api.send('alice', { method: 'POST', url })).json();
    for (const _ of [1, 2]) expect(await cancel()).toMatchObject({ status: 'cancelling', turnId });
    await api.storage.turns.end({ tenant, conversation, turnId: turnId ?? '' }, 'cancelled');
    expect(await cancel()).toMatchObject({ status: 'idle' });
  });

  test('ends the stream of its readers when it is withdrawn', async () => {
    const conversation = randomUUID();
    const { turnId, text } = await chat(conversation, 'm1');
    await api.storage.turns.withdraw({ tenant, conversation, turnId: turnId ?? '' });
    expect(await text?.()).toContain('data: {"type":"abort"}\n\ndata: [DONE]');
  });
});
