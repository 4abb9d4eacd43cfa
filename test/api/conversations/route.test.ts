/** The routes that list a caller's conversations and show one: whose they are, their order, their pages, what is left out. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ConversationListSchema,
  ConversationMessagesSchema,
} from '@interlude-ai/core/contract/conversations.ts';
import type { NewEvent } from '../../../src/storage/log/append.ts';
import type { NewTurn } from '../../../src/storage/tables/turn-lifecycle.ts';
import type { TurnEndStatus } from '../../../src/turn/turn.ts';
import { createApiKey } from '../../../src/service/api-keys.ts';
import { ask, formRequest, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { refuseWhileBusy } from '../../storage/contract/fixtures.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const userText = (text: string) => [{ type: 'text', text }];

async function begin(conversation: string, turnId: string, given: Partial<NewTurn> = {}): Promise<NewTurn> {
  const turn: NewTurn = {
    tenant,
    conversation,
    turnId,
    agent: 'assistant',
    user: 'alice',
    capabilities: { url: true, form: true },
    clientMessageId: `message-of-${turnId}`,
    messages: [{ id: `message-of-${turnId}`, role: 'user', content: userText(`Question of ${turnId}`) }],
    ...given,
  };
  await api.storage.turns.prepare(turn, refuseWhileBusy);
  await api.storage.turns.begin(turn);
  return turn;
}

function eventsOf(words: string, step = 0): NewEvent[] {
  const id = `part-${step}`;
  return [
    { key: `step/${step}`, event: { type: 'start-step', step } },
    { key: `${id}/start`, event: { type: 'text-start', id } },
    ...words.split('').map((letter, index) => ({
      key: `${id}/${index}`,
      event: { type: 'text-delta', id, delta: letter } as const,
    })),
    { key: `${id}/end`, event: { type: 'text-end', id } },
    { key: `step/${step}/finish`, event: { type: 'finish-step', step } },
  ];
}

async function addEndedTurn(
  conversation: string,
  turnId: string,
  status: TurnEndStatus = 'completed',
): Promise<void> {
  const turn = await begin(conversation, turnId);
  await api.storage.turnLog.append(turn, eventsOf(`Answer of ${turnId}`));
  await api.storage.turns.end(turn, status);
}

async function get(path: string, who: Who = 'alice', headers: Record<string, string> = {}) {
  const response = await api.send(who, { url: `/run/v1/conversations${path}`, headers });
  return { status: response.statusCode, body: response.json() };
}

async function read(path: string, headers: Record<string, string> = {}) {
  const { status, body } = await get(path, 'alice', headers);
  expect(status).toBe(200);
  return ConversationMessagesSchema.parse(body);
}

const answered = (turnId: string) => [
  { id: `message-of-${turnId}`, role: 'user', parts: userText(`Question of ${turnId}`) },
  {
    id: turnId,
    role: 'assistant',
    parts: [{ type: 'step-start' }, { type: 'text', text: `Answer of ${turnId}`, state: 'done' }],
  },
];

const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const badCursors: [string, string][] = [
  ['nothing', ''],
  ['no JSON', 'AAAA'],
  ['text', 'where-I-was'],
  ['null', cursor(null)],
  ['another object', cursor({ page: 2 })],
  ['a wrong type', cursor({ updatedAt: 'now', conversation: 'c', seq: '1' })],
  ['impossible places', cursor({ updatedAt: -1, conversation: 'c', seq: 0 })],
  ['an id that cannot be one', cursor({ updatedAt: 1, conversation: 'a\u0000b', seq: 1.5 })],
];
const badLimits = ['', '0', '-1', '101', '1.5', 'all', '1&limit=2'];

describe('the list of conversations', () => {
  test("is the caller's own, last changed first, with the turn that runs", async () => {
    const other = await startApi();
    const list = async (who: Who, query = '') => {
      const response = await other.send(who, { url: `/run/v1/conversations${query}` });
      expect(response.statusCode).toBe(200);
      return ConversationListSchema.parse(response.json());
    };
    expect(await list('alice')).toEqual({ items: [], next: null });

    const row = { tenant, agent: 'assistant', capabilities: { url: true, form: true }, messages: [] };
    const turns: [string, string | null, boolean][] = [
      ['one', 'alice', true],
      ['two', 'bob', true],
      ['three', null, true],
      ['four', 'alice', false],
    ];
    for (const [name, user, ends] of turns) {
      const service = user === null ? 'reports' : null;
      const turn = {
        ...row,
        conversation: name,
        turnId: `turn-${name}`,
        user,
        service,
        clientMessageId: 'm1',
      };
      await other.storage.turns.prepare(turn, refuseWhileBusy);
      await other.storage.turns.begin(turn);
      if (ends) await other.storage.turns.end(turn, 'completed');
    }
    const conversation = await other.storage.turns.conversation({ tenant, conversation: 'four' });
    const four = {
      id: 'four',
      agent: 'assistant',
      createdAt: new Date(conversation?.createdAt ?? 0).toISOString(),
      updatedAt: new Date(conversation?.updatedAt ?? 0).toISOString(),
      turn: { turnId: 'turn-four', status: 'running' },
    };
    const { items } = await list('alice');
    expect(items.find(({ id }) => id === 'four')).toEqual(four);
    expect(items.find(({ id }) => id === 'one')).toMatchObject({ turn: null });
    expect(
      items
        .map(({ updatedAt }) => updatedAt)
        .toSorted()
        .toReversed(),
    ).toEqual(items.map(({ updatedAt }) => updatedAt));
    expect(items).toHaveLength(2);
    expect((await list('bob')).items.map(({ id }) => id)).toEqual(['two']);
    expect((await list('service')).items.map(({ id }) => id)).toEqual(['three']);
    expect((await list('stranger')).items).toEqual([]);

    const first = await list('alice', '?limit=1');
    const second = await list('alice', `?limit=1&cursor=${first.next}`);
    expect([...first.items, ...second.items]).toEqual(items);
    expect(second.next).toBeNull();
    await other.stop();
  });

  test('has 20 to a page unless asked otherwise', async () => {
    for (let number = 0; number < 21; number += 1)
      await addEndedTurn(`of-many-${number}`, `turn-of-many-${number}`);
    const { body } = await get('');
    expect(body.items).toHaveLength(20);
    expect(body.next).toEqual(expect.any(String));
    expect((await get('?limit=100')).body.items.length).toBeGreaterThan(20);
  });

  test.each(badCursors)('refuses a cursor that is %s', async (_, text) => {
    const { status, body } = await get(`?cursor=${text}`);
    expect([status, body]).toMatchObject([
      400,
      { code: 'invalid_request', errors: [{ pointer: '/cursor' }] },
    ]);
  });

  test.each(badLimits)('refuses a limit of %j', async (limit) => {
    const { status, body } = await get(`?limit=${limit}`);
    expect([status, body]).toMatchObject([400, { code: 'invalid_request', errors: [{ pointer: '/limit' }] }]);
  });

  test.each(['0', '500'])('a limit of %s reads which limits there are', async (limit) => {
    const { body } = await get(`?limit=${limit}`);
    expect(body.detail).toBe('/limit: send a whole number from 1 to 100');
  });
});

describe('a conversation that is read again', () => {
  test('has what was posted and what was answered, in order', async () => {
    await addEndedTurn('idle', 'idle-1');
    await addEndedTurn('idle', 'idle-2', 'superseded');
    expect(await read('/idle')).toEqual({
      id: 'idle',
      agent: 'assistant',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      turn: null,
      messages: { items: [...answered('idle-1'), ...answered('idle-2')], next: null },
      position: await api.storage.turnLog.latest({ tenant, conversation: 'idle' }),
    });
  });

  test('has the history it began with', async () => {
    const turn = await begin('with-history', 'with-history-1', {
      clientMessageId: 'm1',
      messages: [
        { id: 'with-history-1/history/0', role: 'user', content: userText('Hello') },
        { id: 'with-history-1/history/1', role: 'assistant', content: userText('Hello to you') },
        { id: 'm1', role: 'user', content: userText('And now?') },
      ],
    });
    await api.storage.turns.end(turn, 'completed');
    expect((await read('/with-history')).messages.items).toEqual([
      { id: 'with-history-1:history:0', role: 'user', parts: userText('Hello') },
      { id: 'with-history-1:history:1', role: 'assistant', parts: userText('Hello to you') },
      { id: 'm1', role: 'user', parts: userText('And now?') },
    ]);
  });

  test("has the live turn's question and not its answer, which comes with the stream", async () => {
    await addEndedTurn('live', 'live-1');
    const turn = await begin('live', 'live-2');
    await api.storage.turnLog.append(turn, eventsOf('So far'));
    const { turn: live, messages } = await read('/live');
    expect(live).toEqual({ turnId: 'live-2', status: 'running' });
    expect(messages.items).toEqual([...answered('live-1'), ...answered('live-2').slice(0, 1)]);
  });

  test('comes in pages of turns, the newest first', async () => {
    const names = ['paged-1', 'paged-2', 'paged-3', 'paged-4', 'paged-5'];
    for (const name of names) await addEndedTurn('paged', name);
    const whole = names.flatMap(answered);
    for (const limit of [1, 2, 4, 5, 6]) {
      const pages = [];
      let query = `?limit=${limit}`;
      for (;;) {
        const { messages } = await read(`/paged${query}`);
        pages.unshift(messages.items);
        if (messages.next === null) break;
        query = `?limit=${limit}&cursor=${messages.next}`;
      }
      expect(pages.flat()).toEqual(whole);
      expect(pages).toHaveLength(Math.ceil(names.length / limit));
    }
  });

  test('keeps its pages while it goes on', async () => {
    for (const name of ['growing-1', 'growing-2', 'growing-3']) await addEndedTurn('growing', name);
    const { messages } = await read('/growing?limit=1');
    await addEndedTurn('growing', 'growing-4');
    const older = await read(`/growing?limit=1&cursor=${messages.next}`);
    expect(older.messages.items).toEqual(answered('growing-2'));
  });

  test('has no words that were taken back', async () => {
    const turn = await begin('taken-back', 'taken-back-1');
    const log = api.storage.turnLog;
    await log.append(turn, [
      { key: 'step', event: { type: 'start-step', step: 0 } },
      { key: 'start', event: { type: 'text-start', id: 'void' } },
      { key: 'delta', event: { type: 'text-delta', id: 'void', delta: 'No, ' } },
      { key: 'reset', event: { type: 'reset-step', step: 0 } },
    ]);
    await log.append(turn, eventsOf('Yes').slice(1));
    await api.storage.turns.end(turn, 'completed');
    const { messages } = await read('/taken-back');
    expect(messages.items.at(-1)?.parts).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'Yes', state: 'done' },
    ]);
  });

  test('has no message of a turn that said nothing', async () => {
    const turn = await begin('silent', 'silent-1');
    await api.storage.turns.end(turn, 'failed');
    expect((await read('/silent')).messages.items.map(({ role }) => role)).toEqual(['user']);
  });

  test('has the questions that its reader can show', async () => {
    const turn = await begin('asking', 'asking-1');
    const elicitationId = await ask(api.storage, turn, { id: 'question-when-asking' });
    await api.storage.turns.end(turn, 'cancelled');
    const questions = async (headers: Record<string, string> = {}) => {
      const { messages } = await read('/asking', headers);
      const parts = messages.items.flatMap((message) => message.parts);
      return parts.filter(({ type }) => type === 'data-elicitation-request');
    };
    expect(await questions({ 'x-supports-elicitation': 'true' })).toMatchObject([
      { id: elicitationId, data: { status: 'cancel' } },
    ]);
    expect(await questions({ 'x-supports-elicitation': 'form' })).toEqual([]);
    expect(await questions()).toEqual([]);
  });

  test('is read only by its owner', async () => {
    await addEndedTurn('hers', 'hers-1');
    for (const who of ['bob', 'service', 'stranger'] as const)
      expect(await get('/hers', who)).toMatchObject({
        status: 404,
        body: { code: 'conversation_not_found' },
      });
    expect(await get('/nowhere')).toMatchObject({ status: 404, body: { code: 'conversation_not_found' } });
    expect(await get('/a%20b')).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/conversation' }] },
    });
  });

  test.each(badCursors)('refuses a cursor that is %s', async (_, text) => {
    await addEndedTurn('refusing', `refusing-${Math.random()}`);
    const { status, body } = await get(`/refusing?cursor=${text}`);
    expect([status, body]).toMatchObject([
      400,
      { code: 'invalid_request', errors: [{ pointer: '/cursor' }] },
    ]);
  });

  test.each(badLimits)('refuses a limit of %j', async (limit) => {
    const { status, body } = await get(`/refusing?limit=${limit}`);
    expect([status, body]).toMatchObject([400, { code: 'invalid_request', errors: [{ pointer: '/limit' }] }]);
  });
});

describe('a conversation that its owner takes away', () => {
  const url = '/run/v1/conversations/leaving';

  test('is exported line by line, with answers and without secrets', async () => {
    const turn = await begin('leaving', 'turn-of-leaving');
    await api.storage.turnLog.append(turn, eventsOf('ok'));
    const schema = {
      type: 'object',
      properties: { project: { type: 'string' }, pin: { type: 'string', format: 'password' } },
    };
    const id = await ask(api.storage, turn, {
      request: formRequest(schema),
      server: null,
      seenVersion: null,
    });
    await api.send('alice', {
      method: 'POST',
      url: '/run/api/elicitation-responses',
      payload: {
        conversationId: 'leaving',
        elicitationId: id,
        action: 'accept',
        content: { project: 'web', pin: '1234' },
      },
    });
    const { headers, payload } = await api.send('alice', { url: `${url}/export` });
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="conversation.ndjson"',
    });
    const lines = payload
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ kind }) => kind)).toEqual([
      'conversation',
      'turn',
      'message',
      'question',
      'answer',
      ...Array.from({ length: lines.length - 5 }, () => 'event'),
    ]);
    expect(lines[4]).toMatchObject({ action: 'accept', content: { project: 'web', pin: '(not exported)' } });
    expect(payload).not.toContain('1234');
  });

  test('is deleted once its turn has ended', async () => {
    const turn = { tenant, conversation: 'leaving', turnId: 'turn-of-leaving' };
    const busy = await api.send('alice', { method: 'DELETE', url });
    expect([busy.statusCode, busy.json().code, busy.headers['x-turn-id']]).toEqual([
      409,
      'turn_in_progress',
      'turn-of-leaving',
    ]);
    await api.storage.turns.end(turn, 'completed', { isOwn: true });
    expect((await api.send('alice', { method: 'DELETE', url })).statusCode).toBe(204);
    for (const request of [{ url }, { url: `${url}/export` }, { method: 'DELETE' as const, url }])
      expect((await api.send('alice', request)).json().code).toBe('conversation_not_found');
    expect(await api.storage.audit.ofElicitation('')).toMatchObject([
      { action: 'erased', actor: 'alice', detail: 'conversation, by its owner' },
    ]);
  });
});

test('the contract describes all of it', async () => {
  const { paths, components } = (await api.app.inject('/openapi.json')).json();
  const list = paths['/run/v1/conversations'].get;
  expect(list.parameters.map(({ name }: { name: string }) => name)).toEqual(['cursor', 'limit']);
  const feed = paths['/run/v1/conversations/{conversation}/events'].get;
  expect(feed.parameters.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['conversation', 'after', 'operations', 'last-event-id', 'x-emit-operations']),
  );
  expect(Object.keys(components.schemas)).toEqual(
    expect.arrayContaining(['Conversation', 'ConversationMessages', 'Operation', 'StreamEvent', 'UiMessage']),
  );
});

describe('conversations of services', () => {
  const billing = { user: null, service: 'billing' };
  const of = async (key: string, path: string, method: 'GET' | 'POST' = 'GET') => {
    return api.app.inject({ method, url: path, headers: { authorization: `Bearer ${key}` } });
  };
  const idsOf = async (key: string) =>
    (await of(key, '/run/v1/conversations')).json<{ items: { id: string }[] }>().items.map(({ id }) => id);

  test('belong to all keys of the service that began them, also to those that replace the first', async () => {
    const first = await createApiKey(api.storage, tenant, null, { service: 'billing' });
    const second = await createApiKey(api.storage, tenant, null, { service: 'billing' });
    await begin('bills', 'turn-of-bills', billing);
    await api.storage.apiKeys.revoke(first.split('_')[1] ?? '');
    expect(await idsOf(second)).toEqual(['bills']);
    expect((await of(second, '/run/v1/conversations/bills')).statusCode).toBe(200);
  });

  test('are those of no other key of the tenant, and look as if there were none', async () => {
    await begin('bills-too', 'turn-of-bills-too', billing);
    const others = [
      await createApiKey(api.storage, tenant, null, { service: 'audits' }),
      await createApiKey(api.storage, tenant),
    ];
    for (const key of others) {
      expect(await idsOf(key)).toEqual([]);
      for (const [method, path] of [
        ['GET', '/run/v1/conversations/bills-too'],
        ['GET', '/run/v1/conversations/bills-too/events'],
        ['GET', '/run/v1/conversations/bills-too/elicitations'],
        ['GET', '/run/api/chat/bills-too/stream'],
        ['POST', '/run/api/chat/bills-too/cancel'],
      ] as const) {
        const refused = await of(key, path, method);
        expect([path, refused.statusCode, refused.json().code]).toEqual([
          path,
          404,
          'conversation_not_found',
        ]);
      }
      const message = { id: 'bills-too', messages: [{ role: 'user', parts: userText('Go on') }] };
      const posted = await api.app.inject({
        method: 'POST',
        url: '/run/api/chat',
        payload: message,
        headers: { authorization: `Bearer ${key}` },
      });
      expect(posted.json()).toMatchObject({ code: 'conversation_not_found' });
    }
  });

  test('a name that a key may not have is refused', async () => {
    for (const service of ['', 'two words', 'a'.repeat(65), 'ä'])
      await expect(createApiKey(api.storage, tenant, null, { service })).rejects.toThrow('1–64 letters');
  });
});
