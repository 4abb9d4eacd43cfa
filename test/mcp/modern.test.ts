/** Clients of the 2026-07-28 revision call our agents, with a client of the SDK over HTTP: each way in which a call ends. */
import { isInputRequiredResult } from '@modelcontextprotocol/client';
import type { CallToolResult, Client, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { useAskingService } from '../asking/asking-service.ts';
import { asks, done, form, page } from '../servers/scripted-mcp-server.ts';
import { answer } from '../servers/raw-mcp-server.ts';
import type { RawMessage } from '../servers/raw-mcp-server.ts';
import { connectClient, rawRequest } from './mcp-client.ts';

const setup = useAskingService();
const named = { city: { type: 'string', minLength: 2 } };
const both = { elicitation: { form: {}, url: {} } };
const callAsk = { name: 'ask_assistant', arguments: { message: 'call asking__ask {}' } };

/** By hand: a result that asks is handed out. */
async function call(client: Client, params: object): Promise<CallToolResult | InputRequiredResult> {
  const result = await client.request(
    { method: 'tools/call', params: { ...callAsk, ...params } },
    { allowInputRequired: true },
  );
  return result as CallToolResult | InputRequiredResult;
}

async function asked(client: Client, params: object = {}) {
  const result = await call(client, params);
  if (!isInputRequiredResult(result)) throw new Error(`nobody was asked: ${JSON.stringify(result)}`);
  const [first] = Object.entries(result.inputRequests ?? {});
  if (!first) throw new Error('nobody was asked, only to come again');
  const [key, request] = first;
  const respond = (response: ElicitResult) =>
    call(client, { inputResponses: { [key]: response }, requestState: result.requestState });
  return { result, key, params: request.params as Record<string, unknown>, respond };
}

test('an agent answers, and its conversation goes on under the id that the result names', async () => {
  await using client = await connectClient(setup.service);
  expect(client.getProtocolEra()).toBe('modern');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['ask_assistant', 'ask_lead']));

  const first = await client.callTool({ name: 'ask_assistant', arguments: { message: 'hello' } });
  expect(first.content[0]).toEqual({ type: 'text', text: 'You said: hello' });
  const { conversationId, status } = first.structuredContent as Record<string, string>;
  expect(status).toBe('completed');
  const second = await client.callTool({
    name: 'ask_assistant',
    arguments: { message: 'and again', conversationId },
  });
  expect(second.structuredContent).toMatchObject({ conversationId, status: 'completed' });
});

test('a client that shows forms asks its user, and the same call goes on', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using client = await connectClient(setup.service, { capabilities: both });
  const seen: unknown[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    seen.push(params);
    return { action: 'accept', content: { city: 'Lisbon' } };
  });
  const progress: unknown[] = [];
  const result = await client.callTool(callAsk, { onprogress: ({ message }) => progress.push(message) });
  expect(result).toMatchObject({
    content: [{ text: 'done' }, {}],
    structuredContent: { status: 'completed' },
  });
  expect(seen).toMatchObject([
    {
      message: `Asking (${new URL(setup.server.url).host}) asks:\nWhich city?`,
      requestedSchema: { type: 'object' },
    },
  ]);
  expect(setup.server.calls[1]?.params.inputResponses).toMatchObject({
    city: { action: 'accept', content: { city: 'Lisbon' } },
  });
  expect(progress).toEqual(expect.arrayContaining(['Step 1', 'Calling asking · ask']));
});

test.each(['decline', 'cancel'] as const)('%s reaches the tool as what it is', async (action) => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using client = await connectClient(setup.service, { capabilities: both });
  client.setRequestHandler('elicitation/create', () => ({ action }));
  await client.callTool(callAsk);
  expect(setup.server.calls[1]?.params.inputResponses).toEqual({ city: { action } });
});

test('consent to a link is an answer, too', async () => {
  setup.server.play(asks({ there: page('https://example.com/a') }));
  await using client = await connectClient(setup.service, { capabilities: both });
  const { params, respond } = await asked(client);
  expect(params).toMatchObject({ mode: 'url', url: 'https://example.com/a' });
  expect(await respond({ action: 'accept' })).toMatchObject({ content: [{ text: 'done' }, {}] });
});

test('what does not fit is asked again with the reasons; what is missing is asked again; what is too much is ignored', async () => {
  setup.server.play(asks({ city: form('Which city?', named) }));
  await using client = await connectClient(setup.service, { capabilities: both });
  const { result, key, respond } = await asked(client);
  const { requestState } = result;
  const again = await respond({ action: 'accept', content: { city: 'L' } });
  expect(again).toMatchObject({
    resultType: 'input_required',
    inputRequests: { [key]: { params: { message: expect.stringContaining('Please answer again: city: ') } } },
  });
  const missing = await asked(client, { requestState, inputResponses: { other: { action: 'accept' } } });
  expect(missing.key).toBe(key);
  expect(await missing.respond({ action: 'accept', content: { city: 'Lisbon' } })).toMatchObject({
    structuredContent: { status: 'completed' },
  });
  // A repetition of what was decided is the same answer.
  expect(await respond({ action: 'accept', content: { city: 'Lisbon' } })).toMatchObject({
    content: [{ text: 'done' }, {}],
  });
});

test('a client that cannot be asked is given the question, and its model answers', async () => {
  setup.server.play(
    asks({ city: form('Which city?', named) }),
    asks({ there: page('https://example.com/a') }),
  );
  await using client = await connectClient(setup.service);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('sendElicitationResult');
  const first = await client.callTool(callAsk);
  const pending = (result: CallToolResult) => result._meta?.['elicitationPending'] as Record<string, string>;
  const host = new URL(setup.server.url).host;
  expect(first.content).toMatchObject([
    {
      text: expect.stringMatching(/^This tool requires user input to continue\.\n\n\*\*Question:\*\* Asking/),
    },
  ]);
  expect(pending(first)).toMatchObject({
    message: `Asking (${host}) asks:\nWhich city?`,
    schema: { type: 'object' },
    instructions: 'Call sendElicitationResult tool after collecting user input',
  });
  const send = (result: CallToolResult, rest: object) =>
    client.callTool({
      name: 'sendElicitationResult',
      arguments: { elicitId: pending(result)['elicitId'], ...rest },
    });
  const wrong = await send(first, { action: 'accept', content: { city: 'L' } });
  expect(wrong.content).toMatchObject([{ text: expect.stringContaining('Please answer again: city: ') }]);
  const second = await send(first, { action: 'accept', content: { city: 'Lisbon' } });
  expect(second.content).toMatchObject([
    {
      text: expect.stringContaining(
        '(it leads to example.com), and do not open it yourself: https://example.com/a',
      ),
    },
  ]);
  expect(await send(second, { action: 'accept' })).toMatchObject({ content: [{ text: 'done' }, {}] });
});

test('a client that shows everything needs no such tool', async () => {
  await using client = await connectClient(setup.service, { capabilities: both });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('sendElicitationResult');
});

test('a state that is forged, of another call or of somebody else is refused, and that is recorded', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using alice = await connectClient(setup.service, { capabilities: both });
  await using bob = await connectClient(setup.service, { user: 'bob', capabilities: both });
  const { result, key, respond } = await asked(alice);
  const { requestState = '' } = result;
  const inputResponses = { [key]: { action: 'accept', content: { city: 'Lisbon' } } };
  const other = { arguments: { message: 'something else' } };
  const refusals: [words: string, sent: Promise<unknown>][] = [
    ['was changed', call(alice, { inputResponses, requestState: `${requestState.slice(0, -2)}AA` })],
    ['somebody else', call(bob, { inputResponses, requestState })],
    ['other arguments', call(alice, { inputResponses, requestState, ...other })],
    ['another tool', call(alice, { inputResponses, requestState, name: 'ask_lead' })],
  ];
  await Promise.all(
    refusals.map(([words, sent]) =>
      expect(sent).rejects.toMatchObject({ code: -32602, message: expect.stringContaining(words) }),
    ),
  );
  const audit = await setup.service.storage.audit.ofElicitation('');
  expect(audit.map(({ action, actor, detail }) => [action, actor, detail])).toEqual(
    expect.arrayContaining([
      ['refused', 'alice', 'forged request state'],
      ['refused', 'bob', 'request state of somebody else'],
      ['refused', 'alice', 'request state of another call'],
    ]),
  );
  expect(await respond({ action: 'decline' })).toMatchObject({ structuredContent: { status: 'completed' } });
});

test('somebody else’s question is refused, and so is a conversation of theirs', async () => {
  setup.server.play(asks({ city: form('Which city?') }));
  await using alice = await connectClient(setup.service, { capabilities: both });
  await using bob = await connectClient(setup.service, { user: 'bob' });
  const { key, respond } = await asked(alice);
  const answered = await bob.callTool({
    name: 'sendElicitationResult',
    arguments: { elicitId: key, action: 'decline' },
  });
  expect(answered).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Only the person') }],
  });
  const audit = await setup.service.storage.audit.ofElicitation(key);
  expect(audit).toMatchObject([{ action: 'refused', actor: 'bob' }]);
  const done = (await respond({ action: 'decline' })) as CallToolResult;
  const { conversationId } = done.structuredContent as Record<string, string>;
  const intruder = await bob.callTool({
    name: 'ask_assistant',
    arguments: { message: 'hello', conversationId },
  });
  expect(intruder).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('no conversation') }],
  });
});

test('a client goes from one question to the next by itself', async () => {
  setup.server.play(...Array.from({ length: 5 }, (_, index) => asks({ city: form(`Step ${index}`) })));
  await using client = await connectClient(setup.service, { capabilities: both });
  let steps = 0;
  client.setRequestHandler('elicitation/create', () => {
    steps += 1;
    return { action: 'accept', content: { city: `Step ${steps}` } };
  });
  expect(await client.callTool(callAsk)).toMatchObject({ structuredContent: { status: 'completed' } });
  expect(steps).toBe(5);
});

test('questions can be polled for and answered, without waiting for what follows', async () => {
  setup.server.play(asks({ city: form('Which city?', named) }));
  await using client = await connectClient(setup.service, { capabilities: both });
  const { key } = await asked(client);
  const tool = (name: string, given: object = {}) => client.callTool({ name, arguments: { ...given } });
  const { questions } = (await tool('list_my_questions')).structuredContent as { questions: object[] };
  expect(questions).toMatchObject([
    { elicitationId: key, mode: 'form', requestedSchema: { type: 'object' } },
  ]);
  const answered = await tool('answer_question', {
    elicitationId: key,
    action: 'accept',
    content: { city: 'Lisbon' },
  });
  const { turnId } = answered.structuredContent as Record<string, string>;
  expect(answered.structuredContent).toMatchObject({ elicitationId: key, status: 'accept' });
  expect(await tool('wait_for_turn', { turnId })).toMatchObject({ content: [{ text: 'done' }, {}] });
  const late = await tool('answer_question', { elicitationId: key, action: 'decline' });
  expect(late).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('"accept"') }] });
});

const keepsTasks = { ...both, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const task = (method: string, params: object, capabilities: object = keepsTasks) =>
  rawRequest(setup.service, method, { ...params }, capabilities);

async function createTask(): Promise<string> {
  const { result } = await task('tools/call', callAsk);
  expect(result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null });
  return result?.['taskId'] as string;
}

async function untilTask(taskId: string, status: string) {
  let { result } = await task('tasks/get', { taskId });
  while (result?.['status'] === 'working') ({ result } = await task('tasks/get', { taskId }));
  expect(result).toMatchObject({ resultType: 'complete', taskId, status });
  return result as { inputRequests: Record<string, object>; result: CallToolResult };
}

test('a turn that takes its time is a task, which asks and ends', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  setup.server.play(
    (message: RawMessage, response: ServerResponse) =>
      void released.then(() => answer(message, response, asks({ city: form('Which city?', named) }))),
    done('Booked.'),
  );
  const taskId = await createTask();
  expect((await task('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
  release();
  const { inputRequests } = await untilTask(taskId, 'input_required');
  const [key = ''] = Object.keys(inputRequests);
  const update = (city: string) =>
    task('tasks/update', {
      taskId,
      inputResponses: { [key]: { action: 'accept', content: { city } }, other: {} },
    });
  expect((await update('L')).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('city: '),
  });
  expect((await update('Lisbon')).result).toMatchObject({ resultType: 'complete' });
  expect((await untilTask(taskId, 'completed')).result).toMatchObject({ content: [{ text: 'Booked.' }, {}] });
});

test('cancelling its task ends a turn; a client that declares no tasks has none', async () => {
  setup.server.play(() => undefined);
  const taskId = await createTask();
  expect(await task('tasks/get', { taskId }, both)).toMatchObject({ error: { code: -32021 } });
  expect((await task('tasks/get', { taskId: 'unknown' })).error).toMatchObject({ code: -32602 });
  expect((await task('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
  await untilTask(taskId, 'cancelled');
  expect((await task('tasks/cancel', { taskId })).result).toMatchObject({ resultType: 'complete' });
});

test('what a page shows beside a message is no part of what the user said', async () => {
  const caller = await setup.service.as('alice');
  const id = `mcp-page-${randomUUID()}`;
  const context = { type: 'data-page-context', data: { text: 'Order 1043' } };
  const messages = [{ role: 'user', parts: [{ type: 'text', text: 'what is this?' }, context] }];
  await caller.request('POST', '/run/api/chat', { id, messages, stream: false });
  await using alice = await connectClient(setup.service);
  const { contents } = await alice.readResource({ uri: `interlude://conversations/${id}` });
  expect(contents).toMatchObject([{ text: expect.stringMatching(/^\*\*You:\*\* what is this\?\n\n/) }]);
});

test('conversations are resources of their owner, agents are prompts', async () => {
  await using alice = await connectClient(setup.service);
  await using bob = await connectClient(setup.service, { user: 'bob' });
  const said = await alice.callTool({ name: 'ask_assistant', arguments: { message: 'remember me' } });
  const { conversationId } = said.structuredContent as Record<string, string>;
  const uri = `interlude://conversations/${conversationId}`;
  const { resources } = await alice.listResources();
  expect(resources[0]).toMatchObject({ uri, title: 'Conversation with Assistant' });
  const { contents } = await alice.readResource({ uri });
  expect(contents).toMatchObject([{ text: '**You:** remember me\n\n**Assistant:** You said: remember me' }]);
  expect((await bob.listResources()).resources.map((resource) => resource.uri)).not.toContain(uri);
  await expect(bob.readResource({ uri })).rejects.toMatchObject({
    message: 'You have no such conversation.',
  });
  const { prompts } = await alice.listPrompts();
  expect(prompts).toMatchObject([{ name: 'assistant', title: 'Assistant' }, { name: 'lead' }]);
  const { messages } = await alice.getPrompt({ name: 'lead', arguments: { message: 'hello' } });
  expect(messages).toMatchObject([{ content: { text: expect.stringContaining('ask_lead') } }]);
});

test('a client that goes away in the middle of a call ends nothing', async () => {
  const { promise: called, resolve: arrived } = Promise.withResolvers<void>();
  const { promise: gone, resolve: leave } = Promise.withResolvers<void>();
  setup.server.play((message: RawMessage, response: ServerResponse) => {
    arrived();
    const late = done();
    void gone.then(() => answer(message, response, late));
  });
  const conversationId = `mcp-gone-${Date.now()}`;
  const given = { ...callAsk.arguments, conversationId };
  const first = await connectClient(setup.service, { capabilities: both });
  const cut = new AbortController();
  const lost = first.callTool({ name: 'ask_assistant', arguments: given }, { signal: cut.signal });
  await called;
  cut.abort();
  await expect(lost).rejects.toThrow(/abort/i);
  await first.close();
  await using client = await connectClient(setup.service);
  const busy = await client.callTool({ name: 'ask_assistant', arguments: { ...given, message: 'hello' } });
  const [, turnId] = /turnId: ([\w-]+)/.exec((busy.content[0] as { text: string }).text) ?? [];
  leave();
  const result = await client.callTool({ name: 'wait_for_turn', arguments: { turnId } });
  expect(result).toMatchObject({
    content: [{ text: 'done' }, {}],
    structuredContent: { status: 'completed' },
  });
});

test('a conversation at work says so; one that waits for an answer takes the new message', async () => {
  const { promise: called, resolve: arrived } = Promise.withResolvers<void>();
  setup.server.play(() => arrived(), asks({ city: form('Which city?') }));
  await using client = await connectClient(setup.service, { capabilities: both });
  const conversationId = `mcp-${Date.now()}`;
  const given = { ...callAsk.arguments, conversationId };
  const first = client.callTool({ name: 'ask_assistant', arguments: given });
  await called;
  const busy = await client.callTool({
    name: 'ask_assistant',
    arguments: { message: 'hello', conversationId },
  });
  expect(busy).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('Call wait_for_turn') }],
  });
  const [, turnId] = /turnId: ([\w-]+)/.exec((busy.content[0] as { text: string }).text) ?? [];
  await task('tasks/cancel', { taskId: turnId });
  expect(await first).toMatchObject({ isError: true, structuredContent: { status: 'cancelled' } });

  const other = { ...callAsk.arguments, conversationId: `${conversationId}-2` };
  const waiting = await asked(client, { arguments: other });
  const next = await client.callTool({ name: 'ask_assistant', arguments: { ...other, message: 'hello' } });
  expect(next).toMatchObject({ content: [{ text: 'You said: hello' }, {}] });
  const late = await call(client, {
    arguments: other,
    requestState: waiting.result.requestState,
    inputResponses: { [waiting.key]: { action: 'accept', content: { city: 'Lisbon' } } },
  });
  expect(late).toMatchObject({
    isError: true,
    content: [
      { text: expect.stringContaining('not used') },
      { text: expect.stringContaining('newer message') },
      {},
    ],
  });
});

test('a client that writes null for what it leaves out is answered', async () => {
  const nulls = { cursor: null, inputResponses: null, requestState: null };
  const params = { name: 'ask_assistant', arguments: { message: 'hello', conversationId: null }, ...nulls };
  const capabilities = { roots: null, elicitation: { form: {}, url: null } };
  expect(await rawRequest(setup.service, 'tools/call', params, capabilities)).toMatchObject({
    status: 200,
    result: { structuredContent: { status: 'completed' } },
  });
});
