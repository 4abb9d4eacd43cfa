import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginTurn, startApi, tenant } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';

let api: ApiUnderTest;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

const url = '/run/v1/chat/completions';
const message = { role: 'user', content: 'List my open issues in Tracker.' };
const body = { model: 'assistant', messages: [message], conversationId: 'c1' };

function post(payload: unknown, who: Who = 'alice', headers: Record<string, string> = {}) {
  return api.send(who, { method: 'POST', url, payload: payload as object, headers });
}

const withContent = (content: unknown) => ({ ...body, messages: [{ role: 'user', content }] });
const afterMessage = (earlier: unknown) => ({ model: 'assistant', messages: [earlier, message] });

describe('a request that is not valid', () => {
  const image = { type: 'image_url', image_url: { url: 'data:,' } };
  const cases: [what: string, body: unknown, pointer: string, param: string | null][] = [
    ['nothing at all', {}, '/model', 'model'],
    ['a list instead of an object', [], '', null],
    ['no model', { ...body, model: undefined }, '/model', 'model'],
    ['a model that is null', { ...body, model: null }, '/model', 'model'],
    ['an empty model', { ...body, model: '' }, '/model', 'model'],
    ['no messages', { ...body, messages: undefined }, '/messages', 'messages'],
    ['an empty list of messages', { ...body, messages: [] }, '/messages', 'messages'],
    ['messages that are a text', { ...body, messages: 'hello' }, '/messages', 'messages'],
    ['a message that is null', { ...body, messages: [null] }, '/messages/0', 'messages[0]'],
    [
      'an unknown role',
      { ...body, messages: [{ ...message, role: 'robot' }] },
      '/messages/0/role',
      'messages[0].role',
    ],
    [
      "an assistant's message at the end",
      { ...body, messages: [message, { role: 'assistant', content: 'Hello' }] },
      '/messages/1/role',
      'messages[1].role',
    ],
    [
      'a tool result at the end',
      { ...body, messages: [message, { role: 'tool', tool_call_id: 'call_1', content: '7' }] },
      '/messages/1/role',
      'messages[1].role',
    ],
    [
      "the system's message at the end",
      { ...body, messages: [{ ...message, role: 'system' }] },
      '/messages/0/role',
      'messages[0].role',
    ],
    ['content that is a number', withContent(7), '/messages/0/content', 'messages[0].content'],
    ['content that is null', withContent(null), '/messages/0/content', 'messages[0].content'],
    ['no content', withContent(undefined), '/messages/0/content', 'messages[0].content'],
    ['blank content', withContent(' \n'), '/messages/0/content', 'messages[0].content'],
    ['no parts', withContent([]), '/messages/0/content', 'messages[0].content'],
    ['a part that is a text', withContent(['hello']), '/messages/0/content/0', 'messages[0].content[0]'],
    [
      'a part without a type',
      withContent([{ text: 'hello' }]),
      '/messages/0/content/0/type',
      'messages[0].content[0].type',
    ],
    [
      'a text part without text',
      withContent([{ type: 'text', text: 'hello' }, { type: 'text' }]),
      '/messages/0/content/1/text',
      'messages[0].content[1].text',
    ],
    [
      'an image',
      withContent([{ type: 'text', text: 'what is this?' }, image]),
      '/messages/0/content/1',
      'messages[0].content[1]',
    ],
    [
      'a sound',
      withContent([{ type: 'input_audio', input_audio: {} }]),
      '/messages/0/content/0',
      'messages[0].content[0]',
    ],
    ['a file', withContent([{ type: 'file', file: {} }]), '/messages/0/content/0', 'messages[0].content[0]'],
    [
      'an image earlier in a new conversation',
      afterMessage({ role: 'user', content: [image] }),
      '/messages/0/content/0',
      'messages[0].content[0]',
    ],
    [
      'a conversation id with a slash',
      { ...body, conversationId: 'a/b' },
      '/conversationId',
      'conversationId',
    ],
    [
      'a conversation id that is a number',
      { ...body, conversationId: 7 },
      '/conversationId',
      'conversationId',
    ],
    ['an unknown onBusy', { ...body, onBusy: 'wait' }, '/onBusy', 'onBusy'],
    ['stream that is a text', { ...body, stream: 'yes' }, '/stream', 'stream'],
    [
      'stream options that are a text',
      { ...body, stream_options: 'usage' },
      '/stream_options',
      'stream_options',
    ],
    [
      'include_usage that is a text',
      { ...body, stream_options: { include_usage: 'yes' } },
      '/stream_options/include_usage',
      'stream_options.include_usage',
    ],
    ['two answers', { ...body, n: 2 }, '/n', 'n'],
    ['tools', { ...body, tools: [{ type: 'function', function: { name: 'f' } }] }, '/tools', 'tools'],
    ['functions', { ...body, functions: [{ name: 'f' }] }, '/functions', 'functions'],
    [
      'a JSON answer',
      { ...body, response_format: { type: 'json_object' } },
      '/response_format/type',
      'response_format.type',
    ],
    ['a spoken answer', { ...body, modalities: ['text', 'audio'] }, '/modalities/1', 'modalities[1]'],
    ['log probabilities', { ...body, logprobs: true }, '/logprobs', 'logprobs'],
  ];
  test.each(cases)(
    'with %s is a 400 that points at it, in both shapes',
    async (_what, bad, pointer, param) => {
      const response = await post(bad);
      expect(response.statusCode).toBe(400);
      expect(response.headers['content-type']).toContain('application/problem+json');
      const problem = response.json();
      expect(problem).toMatchObject({ code: 'invalid_request', status: 400 });
      expect(problem.errors[0]).toEqual({ pointer, detail: expect.any(String) });
      expect(problem.error).toEqual({
        message: problem.detail,
        type: 'invalid_request_error',
        param,
        code: 'invalid_request',
      });
    },
  );

  test('leaves no conversation behind', async () => {
    expect(await api.storage.turns.conversation({ tenant, conversation: 'c1' })).toBeNull();
  });
});

describe('a request with what OpenAI knows and we do not', () => {
  test('gets as far as any other, and null counts as left out', async () => {
    const response = await post({
      ...body,
      messages: [
        { role: 'developer', content: 'Be brief.', name: 'operator' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: {} }] },
        { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '7' }] },
        { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], refusal: 'No.' },
        { ...message, name: 'alice' },
      ],
      conversationId: null,
      stream: null,
      stream_options: null,
      n: 1,
      tools: [],
      functions: null,
      response_format: { type: 'text' },
      modalities: ['text'],
      logprobs: false,
      temperature: 0.2,
      top_p: null,
      max_tokens: 7,
      stop: ['\n'],
      seed: 7,
      user: 'alice',
      metadata: { team: 'blue' },
      model: 'nobody',
    });
    expect([response.statusCode, response.json().code]).toEqual([404, 'unknown_agent']);
  });
});

test('a member that looks misspelt is accepted, and a header names the one that was meant', async () => {
  const response = await post({ ...body, model: 'nobody', straem: true, onbusy: 'cancel', store: true });
  expect([response.statusCode, response.headers['x-interlude-warning']]).toEqual([
    404,
    'straem: unknown (did you mean stream?), onbusy: unknown (did you mean onBusy?)',
  ]);
  const strange = await post({ ...body, model: 'nobody', 'stre\nam': true, strêam: true });
  expect([strange.statusCode, strange.headers['x-interlude-warning']]).toEqual([404, undefined]);
});

describe('every error has a member that OpenAI clients understand:', () => {
  const errorOf = (response: { json(): { detail: string; error: object } }) => response.json().error;

  test('an agent nobody knows', async () => {
    const response = await post({ ...body, model: 'nobody' });
    expect([response.statusCode, response.json().code]).toEqual([404, 'unknown_agent']);
    expect(errorOf(response)).toEqual({
      message: expect.stringMatching(/^There is no agent "nobody"\. The agents are: assistant/),
      type: 'invalid_request_error',
      param: null,
      code: 'model_not_found',
    });
  });

  test('no token', async () => {
    const response = await api.app.inject({ method: 'POST', url, payload: body });
    expect([response.statusCode, response.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    expect(errorOf(response)).toMatchObject({ type: 'authentication_error', code: 'unauthenticated' });
  });

  test('broken JSON, which is not repeated', async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await api.send('alice', {
      method: 'POST',
      url,
      headers,
      payload: '{"secret": "hunter2"',
    });
    expect(response.statusCode).toBe(400);
    expect(errorOf(response)).toMatchObject({ type: 'invalid_request_error', param: null });
    expect(response.body).not.toContain('hunter2');
  });

  test('another content type', async () => {
    const headers = { 'content-type': 'text/plain' };
    const response = await api.send('alice', { method: 'POST', url, headers, payload: 'hello' });
    expect(response.statusCode).toBe(415);
    expect(errorOf(response)).toMatchObject({
      type: 'invalid_request_error',
      code: 'unsupported_media_type',
    });
  });

  test('a body over the limit', async () => {
    const response = await post(withContent('x'.repeat(api.config.http.bodyLimit)));
    expect(response.statusCode).toBe(413);
    expect(errorOf(response)).toMatchObject({ type: 'invalid_request_error', code: 'body_too_large' });
  });

  test('an Idempotency-Key that was used for something else', async () => {
    const headers = { 'idempotency-key': 'k1' };
    await post(body, 'alice', headers);
    const response = await post(withContent('Something else.'), 'alice', headers);
    expect(response.statusCode).toBe(422);
    expect(errorOf(response)).toMatchObject({ code: 'idempotency_key_reused' });
  });

  test('a workflow engine that is away, which is worth trying again', async () => {
    const response = await post({ ...body, conversationId: 'unlucky' });
    expect([response.statusCode, response.headers['x-should-retry']]).toEqual([503, undefined]);
    expect(response.headers['retry-after']).toBeDefined();
    expect(errorOf(response)).toMatchObject({ type: 'server_error', code: 'unavailable' });
    expect(await api.storage.turns.live({ tenant, conversation: 'unlucky' })).toBeNull();
  });

  test('too many requests', async () => {
    const narrow = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '1' } });
    const get = () => narrow.send('alice', { method: 'GET', url: '/run/v1/models' });
    expect((await get()).statusCode).toBe(200);
    const response = await get();
    await narrow.stop();
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBeDefined();
    expect(errorOf(response)).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' });
  });

  test('a database that is away', async () => {
    const cut = await startApi();
    await cut.storage.close();
    const response = await cut.send('alice', { method: 'POST', url, payload: body });
    await cut.stop();
    expect(response.statusCode).toBe(503);
    expect(errorOf(response)).toMatchObject({ type: 'server_error', code: 'unavailable' });
  });
});

describe("somebody else's conversation", () => {
  beforeAll(() => beginTurn(api.storage, 'alices'));

  test.each(['bob', 'service'] as const)('does not exist for %s', async (who) => {
    const response = await post({ ...body, conversationId: 'alices' }, who);
    expect([response.statusCode, response.json().code]).toEqual([404, 'conversation_not_found']);
  });
});

test('a conversation stays with the agent it began with', async () => {
  await beginTurn(api.storage, 'with-researcher', 'researcher');
  const response = await post({ ...body, conversationId: 'with-researcher' });
  expect([response.statusCode, response.json().error.param]).toEqual([400, 'model']);
});

describe('the models', () => {
  const assistant = { id: 'assistant', object: 'model', created: 0, owned_by: 'interlude' };

  test('are the agents', async () => {
    const response = await api.send('bob', { method: 'GET', url: '/run/v1/models' });
    const { object, data } = response.json<{ object: string; data: { id: string }[] }>();
    expect([response.statusCode, object, data[0]]).toEqual([200, 'list', assistant]);
    expect(data.map(({ id }) => id)).toEqual([...api.config.agents.keys()]);
  });

  test('can be asked for one by one', async () => {
    const response = await api.send('service', { method: 'GET', url: '/run/v1/models/assistant' });
    expect([response.statusCode, response.json()]).toEqual([200, assistant]);
  });

  test.each(['nobody', 'a%2Fb', '%20'])('do not include %s', async (id) => {
    const response = await api.send('alice', { method: 'GET', url: `/run/v1/models/${id}` });
    expect([response.statusCode, response.json().code]).toEqual([404, 'unknown_agent']);
    expect(response.json().error.code).toBe('model_not_found');
  });

  test('are not for everybody', async () => {
    const response = await api.app.inject({ method: 'GET', url: '/run/v1/models' });
    expect([response.statusCode, response.json().error.type]).toEqual([401, 'authentication_error']);
  });
});
