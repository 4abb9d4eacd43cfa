import { randomBytes } from 'node:crypto';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { createRefusalLimit } from '../../../src/api/http/limits.ts';
import { createAddressLimit } from '../../../src/service/limits.ts';
import { beginTurn, startApi } from '../api-under-test.ts';
import type { ApiUnderTest, Who } from '../api-under-test.ts';
import { testFolder } from '../../test-folder.ts';
import { formQuestion, open } from '../../storage/contract/question.ts';

let api: ApiUnderTest;
afterEach(() => api?.stop());

test('an address that guesses keys has to wait, and valid tokens and keys of the same address pass', async () => {
  api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '3' } });
  const listing = { method: 'GET', url: '/run/v1/conversations' } as const;
  const guess = (remoteAddress: string) =>
    api.app.inject({
      ...listing,
      remoteAddress,
      headers: { authorization: `Bearer ilk_${'0'.repeat(16)}_${'a'.repeat(43)}` },
    });
  const guesses = [];
  for (let times = 0; times < 5; times++) guesses.push(await guess('10.0.0.1'));
  expect(guesses.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401, 429, 429]);
  expect(Number(guesses.at(-1)?.headers['retry-after'])).toBeGreaterThan(0);
  expect((await guess('10.0.0.2')).statusCode).toBe(401);

  // Other people share the address, or the program that calls for all of them.
  expect((await api.send('alice', { ...listing, remoteAddress: '10.0.0.1' })).statusCode).toBe(200);
  expect((await api.send('service', { ...listing, remoteAddress: '10.0.0.1' })).statusCode).toBe(200);
  expect((await api.app.inject({ ...listing, remoteAddress: '10.0.0.1' })).statusCode).toBe(429);

  const named = { ...listing, remoteAddress: '10.0.0.1', headers: { 'x-interlude-user': 'bob' } };
  const recorded = async () => (await api.storage.audit.ofElicitation('')).length;
  const before = await recorded();
  expect((await api.send('service', named)).statusCode).toBe(429);
  expect(await recorded()).toBe(before);
});

test('refusals are forgotten after a minute or when the clock is set back, and addresses when there are too many', () => {
  let now = 0;
  const limit = createRefusalLimit(1, () => now);
  limit.count('a');
  expect(limit.refusalOf('a')?.message).toMatch(/Wait 60 s/);
  now = 60_000;
  expect(limit.refusalOf('a')).toBeNull();

  now = 3_600_000;
  limit.count('c');
  // The clock was set back.
  now = 0;
  expect(limit.refusalOf('c')).toBeNull();

  limit.count('b');
  for (let n = 0; n < 10_000; n++) limit.count(`other ${n}`);
  expect(limit.refusalOf('b')).toBeNull();
});

test('what an address has open counts until it is closed, with more addresses than are remembered, too', () => {
  const limit = createAddressLimit({ max: 1, words: 'Too many.', per: 'now' });
  const addresses = Array.from({ length: 10_002 }, (_, n) => `address ${n}`);
  for (const address of addresses) limit.count(address);
  const refused = () => addresses.filter((address) => limit.refusalOf(address) !== null);
  expect(refused()).toHaveLength(addresses.length);
  for (const address of addresses) limit.count(address, -1);
  expect(refused()).toEqual([]);
  for (const address of addresses) limit.count(address, -1);
  for (const address of addresses) limit.count(address);
  expect(refused()).toHaveLength(addresses.length);
});

test('the contract is no way to keep the service busy', async () => {
  api = await startApi({ env: { RATE_LIMIT_PER_MINUTE: '2' } });
  const statuses = [];
  for (let times = 0; times < 3; times++) statuses.push((await api.app.inject('/openapi.json')).statusCode);
  expect(statuses).toEqual([200, 200, 429]);
});

test('a user may keep so many streams open, and gets a place back with each that ends', async () => {
  api = await startApi({ env: { OPEN_REQUESTS_PER_USER: '3' } });
  const { conversation } = await beginTurn(api.storage, 'c1');
  const url = `${await api.app.listen({ port: 0, host: '127.0.0.1' })}/run/v1/conversations/${conversation}/events`;
  const open = async () => {
    const leave = new AbortController();
    const { status } = await fetch(url, { headers: api.headers('alice'), signal: leave.signal });
    return { status, leave: () => leave.abort() };
  };
  const streams = [await open(), await open(), await open()];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await open()).status).toBe(429);
  expect((await api.send('bob', { method: 'GET', url: '/run/v1/conversations' })).statusCode).toBe(200);

  streams[0]?.leave();
  await expect.poll(open).toMatchObject({ status: 200 });
  expect((await open()).status).toBe(429);
});

test('a user with too many open requests, in a tenant that has sent too many requests, may answer on any surface, and do nothing else', async () => {
  api = await startApi({ env: { OPEN_REQUESTS_PER_USER: '1', RATE_LIMIT_PER_MINUTE_PER_TENANT: '5' } });
  const turn = await beginTurn(api.storage, 'c1');
  const { conversation, turnId } = turn;
  const post = (url: string, payload: object, headers = {}) =>
    api.send('alice', { method: 'POST', url, headers, payload });
  const accepts = { accept: 'application/json, text/event-stream' };
  const rpc = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
  const opened = await post(
    '/run/v1/mcp',
    rpc('initialize', { protocolVersion: '2025-11-25', capabilities: {} }),
    accepts,
  );
  const session = { ...accepts, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const agent = '/run/agents/assistant/a2a';
  const chat = (part: object) =>
    post('/run/api/chat', { id: conversation, messages: [{ id: 'm', role: 'user', parts: [part] }] });
  const say = (more: object) => ({ messageId: 'm2', role: 'ROLE_USER', parts: [{ text: 'no' }], ...more });
  const decision = (elicitationId: string) => ({ elicitationId, action: 'decline' });

  const url = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const stream = await fetch(`${url}/run/v1/conversations/${conversation}/events`, {
    headers: api.headers('alice'),
  });
  for (const refused of [
    api.send('alice', { method: 'GET', url: '/run/v1/conversations' }),
    chat({ type: 'text', text: 'hello' }),
    post('/run/v1/mcp', rpc('tools/call', { name: 'ask_assistant', arguments: {} }), session),
    post(`${agent}/message:send`, { message: say({}) }, { 'a2a-version': '1.0' }),
    post(agent, rpc('SendMessage', { message: say({}) }), { 'a2a-version': '1.0' }),
    post('/run/agents/assistant/ag-ui', {
      threadId: conversation,
      runId: 'r1',
      messages: [{ id: 'm3', role: 'user', content: 'hello' }],
      resume: [{ interruptId: '0b7f5c1e-6a52-4a7e-9d3c-2f8e1b4d6a90', status: 'cancelled' }],
    }),
  ])
    expect((await refused).statusCode).toBe(429);

  const asked = async () => (await api.send('bob', { url: '/run/v1/conversations' })).statusCode;
  await expect.poll(asked, { interval: 1 }).toBe(429);
  const answers: ((elicitationId: string) => ReturnType<ApiUnderTest['send']>)[] = [
    (id) => post('/run/api/elicitation-responses', { conversationId: conversation, ...decision(id) }),
    (id) => chat({ type: 'data-elicitation-response', data: decision(id) }),
    (id) =>
      post('/run/v1/mcp', rpc('tools/call', { name: 'answer_question', arguments: decision(id) }), session),
    () =>
      post(
        `${agent}/message:send`,
        { message: say({ taskId: turnId }), configuration: { returnImmediately: true } },
        { 'a2a-version': '1.0' },
      ),
  ];
  for (const answer of answers) {
    const question = formQuestion(turn);
    await open(api.storage, question);
    expect((await answer(question.id)).statusCode).toBe(200);
    expect(await api.storage.elicitations.get(question.id)).toMatchObject({ status: 'decline' });
  }
  // A run that answers nothing would only be one more stream.
  const [settled] = await api.storage.elicitations.ofConversation(turn);
  const nothing = await post('/run/agents/assistant/ag-ui', {
    threadId: conversation,
    runId: 'r2',
    messages: [],
    resume: [{ interruptId: settled?.id, status: 'cancelled' }],
  });
  expect(nothing.statusCode).toBe(429);
  const reply = { jsonrpc: '2.0', id: 'unknown', result: { action: 'decline' } };
  expect((await post('/run/v1/mcp', reply, session)).statusCode).toBe(202);
  await stream.body?.cancel();
});

test('two API processes share the limits of a user and of a tenant', async () => {
  const keys = `k1:${randomBytes(32).toString('base64')}`;
  const env = {
    DATABASE_URL: `sqlite:${testFolder()}/shared.db`,
    INTERLUDE_KEYS: keys,
    RATE_LIMIT_PER_MINUTE: '6',
    RATE_LIMIT_PER_MINUTE_PER_TENANT: '9',
  };
  api = await startApi({ env });
  const other = await startApi({ env: { ...env, AUTH_ISSUER: api.config.auth?.issuer ?? '' } });
  onTestFinished(() => other.stop());
  const url = '/run/v1/conversations';
  const statusAt = async (where: ApiUnderTest, who: Who) =>
    (await where.app.inject({ url, headers: api.headers(who) })).statusCode;
  /** Once a second, until one is refused. */
  const passedAt = async (where: ApiUnderTest, who: Who) => {
    let passed = 0;
    const status = async () => {
      const seen = await statusAt(where, who);
      if (seen === 200) passed += 1;
      return seen;
    };
    await expect.poll(status, { interval: 1_100 }).toBe(429);
    return passed;
  };
  const turn = await beginTurn(api.storage, 'c1');
  for (let n = 0; n < 6; n += 1) expect(await statusAt(api, 'alice')).toBe(200);
  expect(await passedAt(other, 'alice')).toBeLessThan(6);
  for (let n = 0; n < 2; n += 1) await statusAt(api, 'bob');
  expect(await passedAt(other, 'service')).toBeLessThan(6);
  expect(await statusAt(other, 'stranger')).toBe(200);

  // Answers have a count of their own.
  const question = formQuestion(turn);
  await open(api.storage, question);
  const answered = await other.app.inject({
    method: 'POST',
    url: '/run/api/elicitation-responses',
    headers: api.headers('alice'),
    payload: { conversationId: turn.conversation, elicitationId: question.id, action: 'decline' },
  });
  expect(answered.statusCode).toBe(200);
});

test('a user with as many live turns as may be learns it in the words of each protocol', async () => {
  api = await startApi({ env: { LIVE_TURNS_PER_USER: '1' } });
  await beginTurn(api.storage, 'c1');
  const post = async (url: string, payload: object, headers = {}) => {
    const response = await api.send('alice', { method: 'POST', url, headers, payload });
    const { statusCode, headers: got } = response;
    return { status: statusCode, retryAfter: got['retry-after'], body: response.json() as object };
  };
  const text = 'hello';
  const message = { messageId: 'm2', role: 'ROLE_USER', parts: [{ text }] };
  const a2a = { 'a2a-version': '1.0' };
  const agent = '/run/agents/assistant';
  const messages = [{ role: 'user', content: text }];
  const retry = expect.objectContaining({ retryDelay: '5s' });
  const problem = { code: 'rate_limited' };
  expect([
    await post('/run/api/chat', {
      id: 'c2',
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }],
    }),
    await post('/run/v1/chat/completions', { model: 'assistant', messages }),
    await post(`${agent}/ag-ui`, {
      threadId: 'c3',
      runId: 'r1',
      messages: [{ id: 'm3', role: 'user', content: text }],
    }),
    await post(`${agent}/a2a`, { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }, a2a),
    await post(`${agent}/a2a/message:send`, { message }, a2a),
  ]).toMatchObject(
    [
      problem,
      { error: { type: 'rate_limit_error', code: 'rate_limited' } },
      problem,
      { error: { code: -32051, data: expect.arrayContaining([retry]) } },
      { error: { status: 'RESOURCE_EXHAUSTED', details: expect.arrayContaining([retry]) } },
    ].map((body) => ({ status: 429, retryAfter: '5', body })),
  );
  expect(
    await post('/run/api/chat', {
      id: 'c1',
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text }] }],
    }),
  ).toMatchObject({ body: { code: 'turn_in_progress' } });
});

test('a tenant may have so many live turns, and so many streams open, and another tenant has its own', async () => {
  api = await startApi({ env: { LIVE_TURNS_PER_TENANT: '1', OPEN_REQUESTS_PER_TENANT: '1' } });
  const { conversation } = await beginTurn(api.storage, 'c1');
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
  const turn = await api.send('bob', {
    method: 'POST',
    url: '/run/api/chat',
    payload: { id: 'c2', messages },
  });
  expect(turn).toMatchObject({ statusCode: 429, headers: { 'retry-after': '5' } });
  expect(turn.json()).toMatchObject({ detail: expect.stringContaining('Your tenant has too many turns') });

  const base = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const stream = await fetch(`${base}/run/v1/conversations/${conversation}/events`, {
    headers: api.headers('alice'),
  });
  const list = async (who: Who) => {
    const response = await fetch(`${base}/run/v1/conversations`, { headers: api.headers(who) });
    return { status: response.status, retryAfter: response.headers.get('retry-after') };
  };
  expect(await list('bob')).toEqual({ status: 429, retryAfter: expect.stringMatching(/^[1-9]/) });
  expect(await list('stranger')).toMatchObject({ status: 200 });
  await stream.body?.cancel();
});

test('one address may keep so many open, whoever its users are', async () => {
  api = await startApi({ env: { OPEN_REQUESTS_PER_ADDRESS: '1' } });
  const { conversation } = await beginTurn(api.storage, 'c1');
  const base = await api.app.listen({ port: 0, host: '127.0.0.1' });
  const stream = await fetch(`${base}/run/v1/conversations/${conversation}/events`, {
    headers: api.headers('alice'),
  });
  expect(stream.status).toBe(200);
  const refused = await fetch(`${base}/run/v1/conversations`, { headers: api.headers('service') });
  expect(refused.status).toBe(429);
  await stream.body?.cancel();
});
