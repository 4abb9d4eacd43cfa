import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask, beginTurn, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest } from '../api-under-test.ts';
import { refuseWhileBusy } from '../../storage/contract/fixtures.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const userMessage = {
  id: 'm1',
  role: 'user',
  parts: [{ type: 'text', text: 'List my open issues in Tracker.' }],
};
const chat = { id: 'c1', messages: [userMessage] };

function post(body: unknown, who: 'alice' | 'bob' | 'service' = 'alice') {
  return api.send(who, { method: 'POST', url: '/run/api/chat', payload: body as object });
}

function withPart(part: unknown) {
  return { ...chat, messages: [{ ...userMessage, parts: [part] }] };
}

function withContext(...contexts: object[]) {
  const parts = contexts.map((context) => ({ type: 'data-page-context', ...context }));
  return { ...chat, messages: [{ ...userMessage, parts: [...userMessage.parts, ...parts] }] };
}

describe('a chat request that is not valid', () => {
  const cases: [what: string, body: unknown, pointer: string][] = [
    ['nothing at all', {}, '/messages'],
    ['a list instead of an object', [], ''],
    ['a conversation id that is a number', { ...chat, id: 7 }, '/id'],
    ['an empty conversation id', { ...chat, id: '' }, '/id'],
    ['a conversation id with a slash', { ...chat, id: 'a/b' }, '/id'],
    ['a conversation id of 129 characters', { ...chat, id: 'c'.repeat(129) }, '/id'],
    ['no messages', { id: 'c1' }, '/messages'],
    ['an empty list of messages', { ...chat, messages: [] }, '/messages'],
    ['messages that are a text', { ...chat, messages: 'hello' }, '/messages'],
    ['a message that is a text', { ...chat, messages: ['hello'] }, '/messages/0'],
    ['a message that is null', { ...chat, messages: [null] }, '/messages/0'],
    ['a message id with a space', { ...chat, messages: [{ ...userMessage, id: 'm 1' }] }, '/messages/0/id'],
    ['an unknown role', { ...chat, messages: [{ ...userMessage, role: 'robot' }] }, '/messages/0/role'],
    [
      'an assistant message at the end',
      { ...chat, messages: [userMessage, { role: 'assistant', parts: [] }] },
      '/messages/1/role',
    ],
    [
      'a system message at the end',
      { ...chat, messages: [{ ...userMessage, role: 'system' }] },
      '/messages/0/role',
    ],
    [
      'a message of version 4, without parts',
      { ...chat, messages: [{ role: 'user', content: 'hello' }] },
      '/messages/0/parts',
    ],
    [
      'a message without any part',
      { ...chat, messages: [{ ...userMessage, parts: [] }] },
      '/messages/0/parts',
    ],
    ['a part that is a text', withPart('hello'), '/messages/0/parts/0'],
    ['a part without a type', withPart({ text: 'hello' }), '/messages/0/parts/0/type'],
    ['a text part without text', withPart({ type: 'text' }), '/messages/0/parts/0/text'],
    ['a text part with a number', withPart({ type: 'text', text: 7 }), '/messages/0/parts/0/text'],
    ['blank text', withPart({ type: 'text', text: ' \n' }), '/messages/0/parts'],
    ['only parts that say nothing to us', withPart({ type: 'data-weather', data: {} }), '/messages/0/parts'],
    [
      'the context of the page, and no words',
      withPart({ type: 'data-page-context', data: { text: 'Order 1043' } }),
      '/messages/0/parts',
    ],
    ['a context without data', withContext({}), '/messages/0/parts/1/data'],
    ['a context that is a text', withContext({ data: 'Order 1043' }), '/messages/0/parts/1/data'],
    ['a context without text', withContext({ data: {} }), '/messages/0/parts/1/data/text'],
    [
      'a context of 16,001 characters',
      withContext({ data: { text: 'x'.repeat(16_001) } }),
      '/messages/0/parts/1/data/text',
    ],
    [
      'two contexts',
      withContext({ data: { text: 'Order 1043' } }, { data: { text: 'Order 1044' } }),
      '/messages/0/parts/2',
    ],
    ['a file', withPart({ type: 'file', mediaType: 'image/png', url: 'data:,' }), '/messages/0/parts/0'],
    ['an agent id that is a number', { ...chat, agentId: 7 }, '/agentId'],
    ['stream that is a text', { ...chat, stream: 'no' }, '/stream'],
    ['an empty agent id', { ...chat, agentId: '' }, '/agentId'],
    ['an unknown way to deal with a busy conversation', { ...chat, onBusy: 'wait' }, '/onBusy'],
    ['a way to deal with it that is a yes', { ...chat, onBusy: true }, '/onBusy'],
    ['an unknown trigger', { ...chat, trigger: 'guess' }, '/trigger'],
    ['a message id of another type', { ...chat, messageId: {} }, '/messageId'],
    ['a message id with a slash', { ...chat, messageId: 'a/b' }, '/messageId'],
    ['a message without a role', { ...chat, messages: [{ parts: userMessage.parts }] }, '/messages/0/role'],
    ['a message whose id is a number', { ...chat, messages: [{ ...userMessage, id: 7 }] }, '/messages/0/id'],
    [
      'parts that are an object',
      { ...chat, messages: [{ ...userMessage, parts: { type: 'text', text: 'hello' } }] },
      '/messages/0/parts',
    ],
    ['a part that is null', withPart(null), '/messages/0/parts/0'],
    ['a part whose type is a number', withPart({ type: 7 }), '/messages/0/parts/0/type'],
    [
      'a mistake in an earlier message',
      { ...chat, messages: [{ ...userMessage, id: 'a b' }, userMessage] },
      '/messages/0/id',
    ],
    [
      'a history that ends in an answer of the assistant',
      { messages: [userMessage, { role: 'assistant', parts: userMessage.parts }] },
      '/messages/1/role',
    ],
    [
      'a file at the end of a history',
      { messages: [userMessage, { role: 'user', parts: [{ type: 'file', url: 'data:,' }] }] },
      '/messages/1/parts/0',
    ],
  ];
  test.each(cases)('with %s is a 400 that points at it', async (_what, body, pointer) => {
    const response = await post(body);
    expect(response.statusCode).toBe(400);
    expect(response.headers['content-type']).toContain('application/problem+json');
    expect(response.json()).toMatchObject({
      code: 'invalid_request',
      errors: expect.arrayContaining([{ pointer, detail: expect.any(String) }]),
    });
  });

  test('leaves no conversation behind', async () => {
    expect(await api.storage.turns.conversation({ tenant, conversation: 'c1' })).toBeNull();
  });

  test('with broken JSON is a 400 that does not repeat the body', async () => {
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'content-type': 'application/json' },
      payload: '{"secret": "hunter2"',
    });
    expect(response.statusCode).toBe(400);
    expect(response.body).not.toContain('hunter2');
  });

  test.each([
    ['an empty one', '', '/idempotency-key'],
    ['one of 256 characters', 'k'.repeat(256), '/idempotency-key'],
  ])('with %s as its Idempotency-Key is a 400 that points at it', async (_what, key, pointer) => {
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'idempotency-key': key },
      payload: chat,
    });
    expect([response.statusCode, response.json().errors]).toMatchObject([400, [{ pointer }]]);
  });

  test('with members that would change what objects are is a 400', async () => {
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'content-type': 'application/json' },
      payload: '{"__proto__": {"id": "c1"}, "messages": []}',
    });
    expect([response.statusCode, response.json().code]).toEqual([400, 'invalid_request']);
  });

  test('with a part as deep as a tower is a 400 like any that says nothing', async () => {
    const tower = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const body = JSON.stringify(withPart({ type: 'data-tower', data: 0 }));
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'content-type': 'application/json' },
      payload: body.replace('"data":0', `"data":${tower}`),
    });
    expect([response.statusCode, response.json().errors]).toMatchObject([
      400,
      [{ pointer: '/messages/0/parts' }],
    ]);
  });

  test('with another content type is a 415', async () => {
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'content-type': 'text/plain' },
      payload: 'hello',
    });
    expect([response.statusCode, response.json().code]).toEqual([415, 'unsupported_media_type']);
  });

  test('over the size limit is a 413', async () => {
    const response = await post(withPart({ type: 'text', text: 'x'.repeat(api.config.http.bodyLimit) }));
    expect([response.statusCode, response.json().code]).toEqual([413, 'body_too_large']);
  });

  test('for an agent nobody knows is a 404 that names those there are', async () => {
    const response = await post({ ...chat, agentId: 'nobody' });
    expect([response.statusCode, response.json().code]).toEqual([404, 'unknown_agent']);
    expect(response.json().detail).toContain('assistant');
  });

  test('without a token is a 401', async () => {
    const response = await api.app.inject({ method: 'POST', url: '/run/api/chat', payload: chat });
    expect([response.statusCode, response.json().code]).toEqual([401, 'unauthenticated']);
  });
});

describe("somebody else's conversation", () => {
  beforeAll(() => beginTurn(api.storage, 'alices'));

  test.each(['bob', 'service'] as const)('does not exist for %s', async (who) => {
    const attempts = [
      { method: 'POST', url: '/run/api/chat', payload: { ...chat, id: 'alices' } },
      { method: 'GET', url: '/run/api/chat/alices/stream' },
      { method: 'POST', url: '/run/api/chat/alices/cancel' },
      { method: 'GET', url: '/run/v1/conversations/alices/elicitations' },
    ] as const;
    for (const attempt of attempts) {
      const response = await api.send(who, attempt);
      expect([response.statusCode, response.json().code]).toEqual([404, 'conversation_not_found']);
    }
  });
});

describe('a header that says what the caller can do', () => {
  const said = (headers: Record<string, string>) =>
    api.send('alice', { method: 'POST', url: '/run/api/chat', headers, payload: chat });

  test.each(['yes', 'video', 'url,video', 'TRUE!', ',', 'url;form', '1', ''])(
    'is refused, with what may stand there, when nobody understands it (%s)',
    async (header) => {
      const response = await said({ 'x-supports-elicitation': header });
      expect([response.statusCode, response.json().errors]).toEqual([
        400,
        [
          {
            pointer: '/x-supports-elicitation',
            detail: 'say `true`, `url`, `form`, `url,form` or `false`, or leave the header out',
          },
        ],
      ]);
    },
  );

  test.each(['x-emit-operations', 'x-supports-reset-step', 'x-supports-tool-approval'])(
    '%s is yes or no',
    async (name) => {
      const response = await said({ [name]: 'yes' });
      expect([response.statusCode, response.json().errors]).toEqual([
        400,
        [{ pointer: `/${name}`, detail: 'say `true` or `false`, or leave the header out' }],
      ]);
    },
  );

  test.each(['', 'de_DE', 'German, please'])('“%s” is no language of a person', async (language) => {
    const response = await said({ 'x-user-language': language });
    expect([response.statusCode, response.json().errors]).toEqual([
      400,
      [
        {
          pointer: '/x-user-language',
          detail: 'say a language, such as `de` or `en-GB`, or leave the header out',
        },
      ],
    ]);
  });

  test.each(['TRUE', 'false', 'url , form'])('may be written like this: “%s”', async (header) => {
    const conversation = `header-${Buffer.from(header).toString('hex')}`;
    await api.storage.turns.end(await beginTurn(api.storage, conversation), 'completed');
    const response = await api.send('alice', {
      method: 'POST',
      url: '/run/api/chat',
      headers: { 'x-supports-elicitation': header },
      payload: {
        id: conversation,
        messages: [{ ...userMessage, id: 'm1', parts: [{ type: 'text', text: 'hello' }] }],
      },
    });
    expect(response.statusCode).toBe(200);
  });
});

describe('a message that is sent again under its id', () => {
  const again = async (conversation: string, text: string) => {
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text }] };
    return post({ id: conversation, messages: [message], stream: false });
  };

  test('is the same turn with the same words, and refused with others, whether its turn has begun or is over', async () => {
    const ref = { tenant, conversation: 'said-twice', turnId: 'turn-of-said-twice' };
    const turn = { ...ref, agent: 'assistant', user: 'alice', capabilities: { url: true, form: true } };
    const message = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'hello' }] } as const;
    await api.storage.turns.prepare({ ...turn, clientMessageId: 'm1', messages: [message] }, refuseWhileBusy);
    const refused = async () => {
      const { statusCode, json } = await again('said-twice', 'goodbye');
      expect([statusCode, json().code]).toEqual([422, 'message_id_reused']);
      expect(json().detail).toContain('Choose a new id');
    };
    await refused();
    await api.storage.turns.begin(turn);
    await refused();
    await api.storage.turns.end(turn, 'completed');
    await refused();
    const same = await again('said-twice', 'hello');
    expect([same.statusCode, same.json().turnId]).toEqual([200, turn.turnId]);
  });

  test('is the same message whatever the page shows by now', async () => {
    await api.storage.turns.end(await beginTurn(api.storage, 'page-moved'), 'completed');
    const context = { type: 'data-page-context', data: { text: 'another page' } };
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hello' }, context] };
    const response = await post({ id: 'page-moved', messages: [message], stream: false });
    expect(response.statusCode).toBe(200);
  });
});

test('a conversation stays with the agent it began with', async () => {
  await beginTurn(api.storage, 'with-researcher', 'researcher');
  const response = await post({ ...chat, id: 'with-researcher', agentId: 'assistant' });
  expect([response.statusCode, response.json().errors[0].pointer]).toEqual([400, '/agentId']);
});

describe('a conversation that does not exist', () => {
  test('is idle for a client that asks whether there is something to resume', async () => {
    const response = await api.send('alice', {
      method: 'GET',
      url: '/run/api/chat/only-in-the-browser/stream',
    });
    expect([response.statusCode, response.body]).toEqual([204, '']);
  });

  test('cannot be cancelled', async () => {
    const response = await api.send('alice', { method: 'POST', url: '/run/api/chat/nowhere/cancel' });
    expect([response.statusCode, response.json().code]).toEqual([404, 'conversation_not_found']);
  });

  test.each(['a b', 'a'.repeat(129), '%2e%2e%2f'])('cannot have the id %j', async (id) => {
    const response = await api.send('alice', {
      method: 'POST',
      url: `/run/api/chat/${encodeURIComponent(id)}/cancel`,
    });
    expect([response.statusCode, response.json().errors[0].pointer]).toEqual([400, '/conversation']);
  });

  test('may have an id of 128 characters', async () => {
    const response = await api.send('alice', {
      method: 'GET',
      url: `/run/api/chat/${'a'.repeat(128)}/stream`,
    });
    expect(response.statusCode).toBe(204);
  });
});

describe('while Temporal cannot be reached', () => {
  test('a new turn is answered with 503, and nothing of it is shown', async () => {
    const response = await post({ ...chat, id: 'unlucky' });
    expect([response.statusCode, response.json().code]).toEqual([503, 'unavailable']);
    expect(response.headers['retry-after']).toBeDefined();
    const ref = { tenant, conversation: 'unlucky' };
    expect(response.json().detail).toContain('It is not known whether the turn has started.');
    // For the same message to join, should Temporal have started it.
    expect(await api.storage.turns.byClientMessage(ref, 'm1')).toMatchObject({ status: 'starting' });
    expect(await api.storage.turns.live(ref)).toBeNull();
    expect(await api.storage.messages.list(ref)).toEqual([]);
  });

  test('a turn is asked to stop: its questions close at once, and its end follows', async () => {
    const turn = await beginTurn(api.storage, 'stopping');
    const question = await ask(api.storage, turn);
    const response = await api.send('alice', { method: 'POST', url: '/run/api/chat/stopping/cancel' });
    expect([response.statusCode, response.json()]).toMatchObject([
      200,
      { status: 'cancelling', turnId: turn.turnId },
    ]);
    expect(await api.storage.turns.get(turn)).toMatchObject({
      status: 'running',
      endingAt: expect.any(Number),
    });
    expect(await api.storage.elicitations.get(question)).toMatchObject({ status: 'cancel' });
  });
});
