/** Clients up to 2025-11-25 call our agents: SDK v1 over HTTP, and by hand where a client would not do it. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CallToolResultSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { questionMetaKey, QuestionMetaSchema } from '@interlude-ai/core/contract/index.ts';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, form, page } from '../servers/scripted-mcp-server.ts';

const setup = useAskingService();
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {}' } };
const both = { form: {}, url: {} };

interface Options {
  elicitation?: Record<string, object>;
  answer?: (params: ElicitRequest['params']) => ElicitResult | Promise<ElicitResult>;
  user?: string;
}

async function connect({ elicitation, answer, user = 'alice' }: Options = {}) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: elicitation ? { elicitation } : {} },
  );
  // Not by `setRequestHandler`, which checks answers itself and sends an error for those that do not fit.
  if (answer)
    client.fallbackRequestHandler = (request) =>
      Promise.resolve(answer(ElicitRequestSchema.parse(request).params));
  const token = await setup.service.token(user);
  const transport = new StreamableHTTPClientTransport(new URL('/run/v1/mcp', setup.service.baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  // The SDK's own types do not agree under exactOptionalPropertyTypes.
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return Object.assign(client, {
    sessionId: transport.sessionId,
    [Symbol.asyncDispose]: () => client.close(),
  });
}

test('an agent is a tool, and answers', async () => {
  await using client = await connect();
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('ask_assistant');
  const result = await client.callTool({ name: 'ask_assistant', arguments: { message: 'hello' } });
  expect(result).toMatchObject({
    content: [{ text: 'You said: hello' }, {}],
    structuredContent: { status: 'completed' },
  });
});

test('a form is asked on the stream of the call; what does not fit is asked again with the reasons', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  const asked: string[] = [];
  await using client = await connect({
    elicitation: {},
    answer({ message }) {
      asked.push(message);
      return { action: 'accept', content: { city: asked.length === 1 ? ['Lisbon'] : 'Lisbon' } };
    },
  });
  const progress: unknown[] = [];
  const result = await client.callTool(callAsk, CallToolResultSchema, {
    onprogress: ({ message }) => progress.push(message),
  });
  expect(result).toMatchObject({ content: [{ text: 'done' }, {}] });
  expect(asked).toEqual([
    expect.stringContaining('Which city?'),
    expect.stringContaining('Please answer again: city: '),
  ]);
  expect(progress).toContain('Step 1');
});

test.each(['decline', 'cancel'] as const)('%s reaches the tool as what it is', async (action) => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using client = await connect({ elicitation: {}, answer: () => ({ action }) });
  await client.callTool(callAsk);
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ city: { action } });
});

test('a client whose answers never fit is asked five times; then the call ends with the question and the reasons', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  let asked = 0;
  await using client = await connect({
    elicitation: { form: {}, url: {} },
    answer() {
      asked++;
      return { action: 'accept', content: { city: ['Lisbon'] } };
    },
  });
  const result = await client.callTool(callAsk);
  expect(asked).toBe(5);
  expect(result).toMatchObject({
    content: [{ text: expect.stringContaining('Please answer again: city: ') }, expect.anything()],
    structuredContent: { status: 'input_required' },
  });
});

test('a link is asked of clients that declare it, and goes in words to the others', async () => {
  const link = () => asks({ there: page('https://example.com/a') });
  setup.server.play(link());
  const seen: ElicitRequest['params'][] = [];
  const answer = (params: ElicitRequest['params']): ElicitResult => {
    seen.push(params);
    return { action: 'accept' };
  };
  await using client = await connect({ elicitation: both, answer });
  expect(await client.callTool(callAsk)).toMatchObject({ content: [{ text: 'done' }, {}] });
  expect(seen).toMatchObject([
    { mode: 'url', url: 'https://example.com/a', elicitationId: expect.any(String) },
  ]);
  expect(QuestionMetaSchema.parse(seen[0]?._meta?.[questionMetaKey])).toMatchObject({
    version: 1,
    elicitationId: (seen[0] as { elicitationId?: string } | undefined)?.elicitationId,
    context: { trigger: 'mcp_elicitation' },
  });
  setup.server.play(link());
  await using formsOnly = await connect({ elicitation: {}, answer });
  const pending = await formsOnly.callTool(callAsk);
  expect(pending._meta?.['elicitationPending']).toMatchObject({ url: 'https://example.com/a' });
  expect(seen).toHaveLength(1);
});

test.each([{}, both])(
  'a client (%j) whose handler fails was not asked: the question goes in words',
  async (elicitation) => {
    setup.server.play(asks({ city: form('Which city?') }));
    await using client = await connect({
      elicitation,
      answer: () => Promise.reject(new Error('no window')),
    });
    const pending = await client.callTool(callAsk);
    const elicitId = (pending._meta?.['elicitationPending'] as { elicitId: string } | undefined)?.elicitId;
    const done = await client.callTool({
      name: 'sendElicitationResult',
      arguments: { elicitId, action: 'accept', content: { city: 'Lisbon' } },
    });
    expect(done).toMatchObject({ content: [{ text: 'done' }, {}] });
  },
);

/** The messages of a stream, as far as the one that is looked for. */
async function readUntil(response: Response, isIt: (message: Record<string, unknown>) => boolean) {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (const [, id = '', data = ''] of text.matchAll(/^id: (.*)\ndata: (.*)\n\n/gm)) {
      const message = JSON.parse(data) as Record<string, unknown>;
      if (isIt(message)) return { id, message };
    }
  }
  throw new Error(`the stream ended: ${text}`);
}

/** What a client sends in this session, by hand. */
async function sender(sessionId = '') {
  const token = await setup.service.token('alice');
  return (init: { body?: object; headers?: Record<string, string>; signal?: AbortSignal }) =>
    fetch(new URL('/run/v1/mcp', setup.service.baseUrl), {
      method: init.body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${token}`,
        'mcp-session-id': sessionId,
        'content-type': 'application/json',
        ...init.headers,
      },
      ...(init.body && { body: JSON.stringify({ jsonrpc: '2.0', ...init.body }) }),
      ...(init.signal && { signal: init.signal }),
    });
}

test('a client that lost its stream is asked again under the same id, and the answer may come by any way', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using client = await connect({ elicitation: {} });
  const send = await sender(client.sessionId);
  const cut = new AbortController();
  const call = { id: 'my-call', method: 'tools/call', params: callAsk };
  const isQuestion = ({ method }: Record<string, unknown>) => method === 'elicitation/create';
  const first = await readUntil(await send({ body: call, signal: cut.signal }), isQuestion);
  cut.abort();
  const resumed = await send({ headers: { 'last-event-id': first.id } });
  const [first2, second] = resumed.body?.tee() ?? [];
  const again = await readUntil(new Response(first2), isQuestion);
  expect(again.message).toEqual(first.message);
  const answer = { id: again.message['id'], result: { action: 'accept', content: { city: 'Lisbon' } } };
  expect((await send({ body: answer })).status).toBe(202);
  const { message } = await readUntil(new Response(second), ({ id }) => id === 'my-call');
  expect(message).toMatchObject({ result: { content: [{ text: 'done' }, {}] } });
  // Once more from the start, at any time.
  const late = await send({ headers: { 'last-event-id': first.id } });
  expect((await readUntil(late, ({ id }) => id === 'my-call')).message).toEqual(message);
});

test('a cancellation ends the turn, from whatever process it is sent', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using client = await connect({ elicitation: {} });
  const send = await sender(client.sessionId);
  const called = await send({ body: { id: 'my-call', method: 'tools/call', params: callAsk } });
  const [first, second] = called.body?.tee() ?? [];
  await readUntil(new Response(first), ({ method }) => method === 'elicitation/create');
  const params = { requestId: 'my-call' };
  expect((await send({ body: { method: 'notifications/cancelled', params } })).status).toBe(202);
  const { message } = await readUntil(new Response(second), ({ id }) => id === 'my-call');
  expect(message).toMatchObject({ result: { structuredContent: { status: 'cancelled' } } });
});

test('a session is of its principal only, and ends when it is told to', async () => {
  await using alice = await connect();
  const as = async (user: string, method = 'POST') =>
    fetch(new URL('/run/v1/mcp', setup.service.baseUrl), {
      method,
      headers: {
        authorization: `Bearer ${await setup.service.token(user)}`,
        'mcp-session-id': alice.sessionId ?? '',
        ...(method === 'POST' && { 'content-type': 'application/json' }),
      },
      ...(method === 'POST' && { body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }) }),
    });
  expect([(await as('alice')).status, (await as('bob')).status]).toEqual([200, 404]);
  const audit = await setup.service.storage.audit.ofElicitation('');
  expect(audit.map(({ actor, detail }) => [actor, detail])).toContainEqual([
    'bob',
    'MCP session of somebody else',
  ]);
  expect((await as('alice', 'DELETE')).status).toBe(204);
  expect((await as('alice')).status).toBe(404);
});

test.each([
  [
    'prompts/get without words',
    { id: 1, method: 'prompts/get', params: { name: 'assistant', arguments: { message: 5 } } },
    200,
  ],
  [
    'prompts/get with arguments that are none',
    { id: 1, method: 'prompts/get', params: { name: 'assistant', arguments: 'hello' } },
    200,
  ],
  ['an id that is too long to keep', { id: 'x'.repeat(5_000), method: 'ping' }, 400],
  ['an id that hides', { id: 'a\u0000b', method: 'ping' }, 400],
])('%s is refused, and is no fault of ours', async (_, message, status) => {
  await using alice = await connect();
  const headers = {
    authorization: `Bearer ${await setup.service.token('alice')}`,
    'mcp-session-id': alice.sessionId ?? '',
    'content-type': 'application/json',
  };
  const address = new URL('/run/v1/mcp', setup.service.baseUrl);
  const response = await fetch(address, {
    method: 'POST',
    headers,
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { code: expect.any(Number) } });
});

test('an event id that names no call is no call', async () => {
  await using alice = await connect();
  const headers = {
    authorization: `Bearer ${await setup.service.token('alice')}`,
    'mcp-session-id': alice.sessionId ?? '',
    accept: 'text/event-stream',
  };
  const address = new URL('/run/v1/mcp', setup.service.baseUrl);
  for (const text of ['"a\u0000b"', '{', '"unknown"']) {
    const eventId = `${Buffer.from(text).toString('base64url')}.1`;
    const response = await fetch(address, { headers: { ...headers, 'last-event-id': eventId } });
    expect(response.status).toBe(404);
  }
});

test('a rejoined session that counts its ids from the start gets no result of an earlier call', async () => {
  const first = await connect();
  const { sessionId } = first;
  const say = (client: Client, message: string) =>
    client.callTool({ name: 'ask_assistant', arguments: { message } });
  expect(await say(first, 'hello')).toMatchObject({ content: [{ text: 'You said: hello' }, {}] });
  await first.close();

  const token = await setup.service.token('alice');
  const transport = new StreamableHTTPClientTransport(new URL('/run/v1/mcp', setup.service.baseUrl), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
    sessionId: sessionId ?? '',
  });
  const again = new Client({ name: 'test', version: '1' });
  await again.connect(transport as Parameters<typeof again.connect>[0]);
  // The id of the first call; the rejoined client made no handshake.
  while ((again as unknown as { _requestMessageId: number })._requestMessageId < 1) await again.ping();
  expect(await say(again, 'goodbye')).toMatchObject({ content: [{ text: 'You said: goodbye' }, {}] });
  await again.close();
});

test('a client that writes null for what it leaves out is answered', async () => {
  const token = await setup.service.token('alice');
  let session: string | null = null;
  const post = async (message: object) => {
    const response = await fetch(new URL('/run/v1/mcp', setup.service.baseUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== null && { 'mcp-session-id': session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    });
    session ??= response.headers.get('mcp-session-id');
    return { status: response.status, text: await response.text() };
  };
  const capabilities = { elicitation: null, roots: null };
  const clientInfo = { name: 'x', version: '1', title: null };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo, _meta: null };
  expect(await post({ id: 1, method: 'initialize', params })).toMatchObject({ status: 200 });
  const initialized = { id: null, method: 'notifications/initialized', params: null };
  expect(await post(initialized)).toMatchObject({ status: 202 });
  const list = { id: 2, method: 'tools/list', params: { cursor: null, _meta: null } };
  expect(await post(list)).toMatchObject({
    status: 200,
    text: expect.stringContaining('ask_assistant'),
  });
  const input = { name: 'ask_assistant', arguments: { message: 'hello', conversationId: null } };
  const call = { id: 3, method: 'tools/call', params: { ...input, _meta: { progressToken: null } } };
  expect(await post(call)).toMatchObject({ text: expect.stringContaining('You said: hello') });
});
