/** Starting, joining, refusing and cancelling turns against a real Temporal server on which no worker runs. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOpenTurns } from '../../src/service/open-turn.ts';
import { createTurnWorkflows } from '../../src/service/turn-workflows.ts';
import { requireNamespace } from '../../src/temporal/namespace.ts';
import { startTemporalServer } from '../../src/development/temporal-server.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import type { AnswerElicitation } from '../../src/workflows/messages.ts';
import { ask, startApi, tenant } from '../api/api-under-test.ts';
import type { ApiUnderTest } from '../api/api-under-test.ts';

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

/** Until when each of them lets the turn make room, in epoch milliseconds. */
async function supersedeSignals(conversation: string): Promise<number[]> {
  const { events } = await client.workflow.getHandle(turnWorkflowId({ tenant, conversation })).fetchHistory();
  return (events ?? [])
    .map(({ workflowExecutionSignaledEventAttributes: signal }) => signal)
    .filter((signal) => signal?.signalName === 'supersede')
    .map((signal) => {
      const [payload] = signal?.input?.payloads ?? [];
      return (JSON.parse(Buffer.from(payload?.data ?? '').toString()) as { until: number }).until;
    });
}

async function chat(conversation: string, messageId: string) {
  const hangUp = new AbortController();
  const response = await fetch(`${url}/run/api/chat`, {
    method: 'POST',
    headers: { ...api.headers('alice'), 'content-type': 'application/json' },
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

const handleOf = (conversation: string) =>
  client.workflow.getHandle(turnWorkflowId({ tenant, conversation }));

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
    const description = await handleOf(conversation).describe();
    expect(description.memo).toEqual({ turnId });
    expect(description.status.name).toBe('RUNNING');
    const history = await handleOf(conversation).fetchHistory();
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
    // A worker that comes back now no longer ends it for the message that was refused.
    const [until] = await supersedeSignals(conversation);
    expect(until).toBeLessThan(Date.now());
  });

  test('never joins the turn of somebody who was quicker to use the same ids', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const { config, storage } = api;
    const workflows = createTurnWorkflows({ client, storage, config, logger: pino({ level: 'silent' }) });
    const taken = { tenant, conversation, turnId: first.turnId ?? '' };
    await storage.turns.begin(taken);
    const turn = {
      ...taken,
      turnId: randomUUID(),
      user: 'bob',
      agent: 'assistant',
      capabilities: { url: false, form: false },
      clientMessageId: 'm1',
      messages: [],
    };
    const started = await workflows.start(turn, { onBusy: 'refuse', isRepeatable: true });
    expect(started).toEqual({ kind: 'foreign-conversation' });
  });

  test('that follows an end at once waits for the workflow to close instead of being refused', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const turn = { tenant, conversation, turnId: first.turnId ?? '' };
    await api.storage.turns.begin(turn);
    await api.storage.turns.end(turn, 'completed');
    const second = chat(conversation, 'm2');
    await handleOf(conversation).terminate();
    expect((await second).status).toBe(200);
  });

  test('starts a new turn once the last one has ended', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    await handleOf(conversation).terminate();
    const second = await chat(conversation, 'm2');
    expect(second.status).toBe(200);
    expect(second.turnId).not.toBe(first.turnId);
  });
});

describe('a conversation whose workflow has nothing left to do, and no worker to find that out', () => {
  test('is free for the next message when its turn was withdrawn', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const earlier = client.workflow.getHandle(
      turnWorkflowId({ tenant, conversation }),
      (await handleOf(conversation).describe()).runId,
    );
    await api.storage.turns.withdraw({ tenant, conversation, turnId: first.turnId ?? '' });
    const second = await chat(conversation, 'm2');
    expect(second.status).toBe(200);
    expect((await earlier.describe()).status.name).toBe('TERMINATED');
    expect((await handleOf(conversation).describe()).memo).toEqual({ turnId: second.turnId });
  });

  test('is free a while after its turn has ended', async () => {
    const conversation = randomUUID();
    const first = await chat(conversation, 'm1');
    const turn = { tenant, conversation, turnId: first.turnId ?? '' };
    const { turns } = api.storage;
    await turns.begin(turn);
    const openTurnIn = (ms: number) =>
      createOpenTurns(client, { turns, now: () => api.storage.now() + ms }).openTurn(turn);
    expect(await openTurnIn(60_000)).toMatchObject({ kind: 'live' });
    await turns.end(turn, 'completed');
    expect(await openTurnIn(0)).toMatchObject({ kind: 'closing' });
    expect(await openTurnIn(60_000)).toMatchObject({ kind: 'abandoned' });
  });
});

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

  test('can be cancelled, as often as one likes', async () => {
    const conversation = randomUUID();
    await chat(conversation, 'm1');
    const cancel = () => api.send('alice', { method: 'POST', url: `/run/api/chat/${conversation}/cancel` });
    for (const _ of [1, 2]) expect((await cancel()).json()).toMatchObject({ status: 'cancelling' });
    await handleOf(conversation).terminate();
    expect((await cancel()).json()).toMatchObject({ status: 'idle' });
  });

  test('is left alone by whoever means to cancel an earlier one', async () => {
    const conversation = randomUUID();
    const { turnId } = await chat(conversation, 'm1');
    const { config, storage } = api;
    const workflows = createTurnWorkflows({ client, storage, config, logger: pino({ level: 'silent' }) });
    expect(await workflows.cancel({ tenant, conversation }, 'earlier')).toEqual({ status: 'idle' });
    expect(await workflows.current({ tenant, conversation })).toBe(turnId);
    const { status } = await workflows.cancel({ tenant, conversation }, turnId ?? '');
    expect(status).toBe('cancelling');
  });

  test('ends the stream of its readers when it is withdrawn', async () => {
    const conversation = randomUUID();
    const { turnId, text } = await chat(conversation, 'm1');
    await api.storage.turns.withdraw({ tenant, conversation, turnId: turnId ?? '' });
    expect(await text?.()).toContain('data: {"type":"abort"}\n\ndata: [DONE]');
  });
});

describe('an answer', () => {
  async function asked() {
    const conversation = randomUUID();
    const { turnId } = await chat(conversation, 'm1');
    const turn = { tenant, conversation, turnId: turnId ?? '' };
    await api.storage.turns.begin(turn);
    const elicitationId = await ask(api.storage, turn);
    const answer = (action = 'decline') =>
      api.send('alice', {
        method: 'POST',
        url: '/run/api/elicitation-responses',
        payload: { conversationId: conversation, elicitationId, action },
      });
    return { conversation, turn, elicitationId, answer };
  }

  /** The answers that the workflow was told of. */
  async function sentTo(conversation: string): Promise<AnswerElicitation[]> {
    const { events } = await handleOf(conversation).fetchHistory();
    return (events ?? [])
      .map(({ workflowExecutionSignaledEventAttributes: signal }) => signal)
      .filter((signal) => signal?.signalName === 'answerElicitation')
      .map((signal) => JSON.parse(Buffer.from(signal?.input?.payloads?.[0]?.data ?? '').toString()));
  }

  test('that no worker confirms in time is kept, and the caller told so', async () => {
    const { answer, elicitationId, conversation } = await asked();
    const response = await answer();
    expect([response.statusCode, response.json()]).toEqual([202, { elicitationId, status: 'received' }]);
    expect(await sentTo(conversation)).toMatchObject([{ elicitationId, action: 'decline' }]);
  });

  test('that consents to an account which is there by now brings the news itself', async () => {
    const { answer, conversation } = await asked();
    await api.storage.connections.establish(
      { tenant, server: 'tracker', user: 'alice' },
      { store: 'oauth', account: null, scopes: [], sealed: '', freshUntil: null },
    );
    const response = await answer('accept');
    expect([response.statusCode, response.json()]).toMatchObject([202, { status: 'received' }]);
    expect(await sentTo(conversation)).toMatchObject([{ action: 'accept', connected: 1 }]);
  });

  test('that its workflow makes something of is told as soon as that is written, without asking anybody', async () => {
    const { answer, elicitationId, conversation } = await asked();
    const reply = answer();
    // What the workflow would write; no worker is there to be asked.
    await expect.poll(() => sentTo(conversation)).toHaveLength(1);
    const [sent] = await sentTo(conversation);
    await api.storage.elicitations.settle(elicitationId, 'decline', sent?.responseId ?? null);
    const response = await reply;
    expect([response.statusCode, response.json()]).toEqual([
      200,
      { elicitationId, status: 'decline', duplicate: false },
    ]);
  });

  test('to a question whose workflow was ended from outside is a 410, and the question is closed', async () => {
    const { answer, conversation, elicitationId } = await asked();
    await handleOf(conversation).terminate();
    const response = await answer();
    expect([response.statusCode, response.json().code]).toEqual([410, 'turn_over']);
    expect(await api.storage.elicitations.get(elicitationId)).toMatchObject({ status: 'cancel' });
  });

  test('news of a connection reaches the question without anybody asking', async () => {
    const { turn, conversation } = await asked();
    await api.storage.connections.establish(
      { tenant, server: 'tracker', user: 'alice' },
      { store: 'oauth', account: null, scopes: [], sealed: '', freshUntil: null },
    );
    // What the connect page would have signalled; here only the repetition is left to do it, in its second round from now.
    await expect
      .poll(
        async () =>
          (await handleOf(conversation).fetchHistory()).events?.some(
            ({ workflowExecutionSignaledEventAttributes: signal }) =>
              signal?.signalName === 'connectionEstablished',
          ),
        { timeout: 20_000 },
      )
      .toBe(true);
    expect(turn.conversation).toBe(conversation);
  });
});
