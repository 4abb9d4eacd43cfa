/** Ids and states that are real, and in the wrong hands, at the wrong call or too late: nothing changes, and it is on record. */
import { isInputRequiredResult } from '@modelcontextprotocol/client';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, form } from '../servers/scripted-mcp-server.ts';
import { connectClient, rawRequest } from './mcp-client.ts';

const setup = useAskingService();
const both = { elicitation: { form: {}, url: {} } };
const keepsTasks = { ...both, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {}' } };
const lisbon = { action: 'accept', content: { city: 'Lisbon' } };
const porto = { action: 'accept', content: { city: 'Porto' } };

beforeEach(() => setup.server.play(asks({ city: form('Which city?') })));
afterAll(() => setup.service.endTurns());

type Result = Record<string, unknown> & { content?: { text: string }[] };

async function call(more: object = {}, options: Parameters<typeof rawRequest>[4] = {}) {
  const { result, error } = await rawRequest(
    setup.service,
    'tools/call',
    { ...callAsk, ...more },
    both,
    options,
  );
  if (error) throw Object.assign(new Error(error.message), error);
  return result as Result;
}

/** Alice is asked. */
async function asked(options: Parameters<typeof rawRequest>[4] = {}) {
  const result = await call({}, options);
  if (!isInputRequiredResult(result)) throw new Error(`nobody was asked: ${JSON.stringify(result)}`);
  const [key = ''] = Object.keys(result.inputRequests ?? {});
  const row = await setup.service.storage.elicitations.get(key);
  if (!row) throw new Error('a question that is asked is on record');
  return { key, requestState: result.requestState ?? '', turnId: row.turnId };
}

const statusOf = async (key: string) => (await setup.service.storage.elicitations.get(key))?.status;
const refusals = async (elicitationId = '') =>
  (await setup.service.storage.audit.ofElicitation(elicitationId)).map(({ actor, detail }) => [
    actor,
    detail,
  ]);

test('somebody else’s task is none: it is neither shown, nor answered, nor cancelled', async () => {
  const { key, turnId, requestState } = await asked();
  const before = await refusals();
  const params = { taskId: turnId, inputResponses: { [key]: lisbon } };
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
    const { error } = await rawRequest(setup.service, method, params, keepsTasks, { user: 'bob' });
    expect(error).toMatchObject({ code: -32602, message: 'You have no task of this id.' });
  }
  await using bob = await connectClient(setup.service, { user: 'bob' });
  const waited = await bob.callTool({ name: 'wait_for_turn', arguments: { turnId } });
  expect(waited).toMatchObject({ isError: true });
  expect((await refusals()).slice(before.length)).toEqual(
    Array.from({ length: 4 }, () => ['bob', 'turn of somebody else']),
  );
  expect(await statusOf(key)).toBe('pending');
  expect(await call({ requestState, inputResponses: { [key]: lisbon } })).toMatchObject({
    structuredContent: { status: 'completed' },
  });
});

test.each([
  ['an answer', { result: lisbon }, 'accept by a user'],
  ['an error', { error: { code: -32603, message: 'no window' } }, 'cancel by a user'],
])('%s to somebody else’s question, in a session of an older client', async (_, reply, detail) => {
  const { key, requestState } = await asked();
  const session = await openSession('bob');
  expect((await session.post({ id: `${key}/0`, ...reply })).status).toBe(202);
  expect(await statusOf(key)).toBe('pending');
  expect(await refusals(key)).toEqual([['bob', detail]]);
  // Nobody’s is ignored.
  expect((await session.post({ id: 'unknown/0', ...reply })).status).toBe(202);
  await call({ requestState, inputResponses: { [key]: { action: 'decline' } } });
});

test('a state that was decided brings its call’s result again, and no other decision', async () => {
  const { key, requestState } = await asked();
  const first = await call({ requestState, inputResponses: { [key]: lisbon } });
  const again = await call({ requestState, inputResponses: { [key]: porto } });
  expect(again.content?.[0]?.text).toMatch(/^An answer was not used: /);
  expect(again.content?.slice(1)).toEqual(first.content);
  expect(await call({ requestState })).toMatchObject({ content: first.content });
  expect(setup.server.calls.map(({ params }) => params.inputResponses)).toEqual([
    undefined,
    { city: lisbon },
  ]);
});

test('the answer to another call’s question is no answer to this one’s', async () => {
  setup.server.play(asks({ city: form('Which city?') }), asks({ city: form('Which city?') }));
  const one = await asked();
  const two = await asked();
  const swapped = await call({ requestState: one.requestState, inputResponses: { [two.key]: lisbon } });
  expect(Object.keys(swapped['inputRequests'] as object)).toEqual([one.key]);
  expect([await statusOf(one.key), await statusOf(two.key)]).toEqual(['pending', 'pending']);
  for (const { key, requestState } of [one, two])
    await call({ requestState, inputResponses: { [key]: { action: 'decline' } } });
});

test.each(['', 'x', 'v1', '.', 'v1..', 'v1.k1.', 'v1.unknown.AAAA', '\u0000', 'é', 'x'.repeat(20_000)])(
  'what is no state is refused: %j',
  async (requestState) => {
    const before = await refusals();
    await expect(call({ requestState })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'invalid_request_state' },
    });
    expect((await refusals()).slice(before.length)).toEqual([['alice', 'forged request state']]);
    expect(setup.server.calls).toEqual([]);
  },
);

test('a call that is sent again under its idempotency key may bring its answers without a state', async () => {
  const named = { headers: { 'idempotency-key': 'the same call' } };
  const { key } = await asked(named);
  const wrong = await call({ inputResponses: { [key]: { action: 'accept', content: { city: 7 } } } }, named);
  expect(JSON.stringify(wrong['inputRequests'])).toContain('Please answer again: city: ');
  expect(await call({ inputResponses: { [key]: lisbon } }, named)).toMatchObject({
    content: [{ text: 'done' }, {}],
  });
  expect(setup.server.calls).toHaveLength(2);
});

test.each([
  ['2025-11-25', true],
  ['2025-06-18', false],
])('a client of %s can come back to a stream before it has said anything: %s', async (version, isPrimed) => {
  const session = await openSession('alice', version);
  const response = await session.post({ id: 'my-call', method: 'tools/call', params: callAsk });
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('elicitation/create')) break;
  }
  expect(/^id: \S+\nretry: \d+\ndata: \n\n[^]*elicitation\/create/m.test(text)).toBe(isPrimed);
  await session.post({ method: 'notifications/cancelled', params: { requestId: 'my-call' } });
});

async function openSession(user: string, protocolVersion = '2025-11-25') {
  const token = await setup.service.token(user);
  let sessionId = '';
  const post = (body: object) =>
    fetch(new URL('/run/v1/mcp', setup.service.baseUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(sessionId && { 'mcp-session-id': sessionId }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const capabilities = { elicitation: {} };
  const begun = await post({ id: 0, method: 'initialize', params: { protocolVersion, capabilities } });
  sessionId = begun.headers.get('mcp-session-id') ?? '';
  return { post };
}
