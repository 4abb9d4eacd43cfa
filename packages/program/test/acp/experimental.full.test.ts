/** What is an experiment of the protocol: v2, HTTP and WebSocket, with the SDK's clients. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { client, methods } from '@agentclientprotocol/sdk/experimental/v2';
import type { RequestPermissionRequest, SessionUpdate } from '@agentclientprotocol/sdk/experimental/v2';
import { createHttpStream } from '@agentclientprotocol/sdk/experimental/http-client';
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client';
import type { WebSocketConstructor } from '@agentclientprotocol/sdk/experimental/ws-client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createAgent, createHttpServer } from '../../src/acp/serve.ts';
import { createAgentV2 } from '../../src/acp/agent-v2.ts';
import { Identity } from '../../src/acp/identity.ts';
import { createKeptLogins } from '@interlude-ai/kit/terminal/kept-files.ts';
import { useAskingService } from '../../../../test/asking/asking-service.ts';
import { asks, form } from '../../../../test/servers/scripted-mcp-server.ts';
import { callOf } from '../../../../test/service/asking.ts';
import type { Service } from '../../../../test/service/service.ts';
import { playEditor } from './editor.ts';
import { partsFor } from './open-editor.ts';
import { startProgram } from './program.ts';

const setup = useAskingService();
const callAsk = callOf(['ask']);
const lisbon = { action: 'accept', content: { city: 'Lisbon' } } as const;
const asking = asks({ city: form('Which city?') });

/** An editor that speaks the draft. `permit`: the option that its user chooses. */
async function draftEditor(
  answer: () => unknown = () => lisbon,
  { service = setup.service, permit = 'reject' }: { service?: Service; permit?: string | null } = {},
) {
  const permissions: RequestPermissionRequest[] = [];
  const updates: SessionUpdate[] = [];
  let wake = Promise.withResolvers<void>();
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => {
      updates.push(params.update);
      wake.resolve();
      wake = Promise.withResolvers();
    })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      permissions.push(params);
      return permit === null
        ? { outcome: { outcome: 'cancelled' } }
        : { outcome: { outcome: 'selected', optionId: permit } };
    })
    .onRequest(methods.client.elicitation.create, () => answer() as typeof lisbon);
  const connection = app.connect(createAgentV2(await partsFor(service)));
  const { agent } = connection;
  const hello = await agent.request(methods.agent.initialize, {
    protocolVersion: 2,
    info: { name: 'test', version: '1' },
    capabilities: { elicitation: { form: {}, url: {} } },
  });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: '/project' });
  service.begun(sessionId);
  const states = () =>
    updates.flatMap((update) => (update.sessionUpdate === 'state_update' ? [update] : [])) as {
      state: string;
      stopReason?: string;
    }[];
  return {
    agent,
    close: () => connection.close(),
    hello,
    sessionId,
    updates,
    permissions,
    states,
    prompt: (text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] }),
    async until(holds: () => boolean) {
      while (!holds()) await new Promise(setImmediate);
    },
    async idle() {
      while (states().at(-1)?.state !== 'idle') await wake.promise;
      return states().at(-1)?.stopReason;
    },
  };
}

test('v2: a prompt is answered when it was taken, and what becomes of it is a state', async () => {
  setup.server.play(asking);
  const editor = await draftEditor();
  expect(editor.hello).toMatchObject({ protocolVersion: 2, info: { name: 'interlude' } });
  const { messageId } = await editor.prompt(callAsk);
  expect(await editor.idle()).toBe('end_turn');
  const said = editor.updates.map(({ sessionUpdate }) => sessionUpdate);
  expect(editor.updates.find(({ sessionUpdate }) => sessionUpdate === 'user_message')).toMatchObject({
    messageId,
  });
  expect(editor.states().map(({ state }) => state)).toEqual([
    'running',
    'requires_action',
    'running',
    'idle',
  ]);
  expect(said).not.toContain('tool_call');
  expect(said.filter((one) => one === 'tool_call_update')).toHaveLength(2);
  expect(editor.updates).toContainEqual(
    expect.objectContaining({ sessionUpdate: 'agent_message_chunk', messageId: expect.any(String) }),
  );
  editor.close();
});

test('v2: cancel ends as cancelled, and a session is resumed with what was said', async () => {
  setup.server.play(asking);
  const editor = await draftEditor(() => new Promise(() => undefined));
  await editor.prompt(callAsk);
  while (editor.states().at(-1)?.state !== 'requires_action') await new Promise(setImmediate);
  await editor.agent.notify(methods.agent.session.cancel, { sessionId: editor.sessionId });
  expect(await editor.idle()).toBe('cancelled');
  const { sessionId } = editor;
  editor.close();
  const again = await draftEditor();
  await again.agent.request(methods.agent.session.resume, {
    sessionId,
    cwd: '/project',
    replayFrom: { type: 'start' },
  });
  expect(again.updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
    'user_message_chunk',
    'tool_call_update',
    'state_update',
  ]);
  expect(again.states()).toMatchObject([{ state: 'idle' }]);
  again.close();
});

describe('v2: approvals', () => {
  const approving = useAskingService({
    env: { ASKING_APPROVAL: 'destructive' },
    annotations: { destructiveHint: true },
  });

  test.each([
    ['allow-once', 1, 'idle'],
    ['reject', 0, 'idle'],
    // Neither is a decision: it waits for one on any surface.
    ['no option of ours', 0, 'requires_action'],
    [null, 0, 'requires_action'],
  ])('are permission requests, and no questions: %s', async (permit, calls, state) => {
    approving.server.play();
    const answer = vi.fn<() => unknown>(() => lisbon);
    const editor = await draftEditor(answer, { service: approving.service, permit });
    await editor.prompt(callOf(['ask', { page: 'Travel policy' }]));
    await editor.until(() => editor.permissions.length > 0);
    expect(editor.permissions[0]).toMatchObject({
      sessionId: editor.sessionId,
      title: expect.stringContaining('Approve this?'),
      subject: {
        type: 'tool_call',
        toolCall: {
          toolCallId: 'call_1',
          content: [{ content: { text: expect.stringContaining('Travel policy') } }],
        },
      },
      options: [
        { optionId: 'allow-once', kind: 'allow_once' },
        { optionId: 'allow-conversation', kind: 'allow_always' },
        { optionId: 'allow-always', kind: 'allow_always' },
        { optionId: 'reject', kind: 'reject_once' },
      ],
    });
    await editor.until(() => editor.states().at(-1)?.state === state);
    expect(approving.server.calls).toHaveLength(calls);
    expect(answer).not.toHaveBeenCalled();
    editor.close();
    await approving.service.endTurns();
  });
});

test('v2 is spoken to who asks for it, and only where the program was told to', async () => {
  const env = { INTERLUDE_TOKEN: await setup.service.token('alice') };
  const hello = { protocolVersion: 2, info: { name: 'test', version: '1' }, capabilities: {} };
  for (const [words, expected] of [
    [[], 1],
    [['--draft'], 2],
  ] as const) {
    const program = startProgram(['--service', setup.service.baseUrl, ...words], env);
    expect((await program.ask('initialize', hello)).result).toMatchObject({ protocolVersion: expected });
    expect(await program.end()).toBe(0);
  }
  const both = startProgram(['--service', setup.service.baseUrl, '--draft'], env);
  expect((await both.ask('initialize', { protocolVersion: 1 })).result).toMatchObject({ protocolVersion: 1 });
  expect(await both.end()).toBe(0);
});

async function listening(): Promise<string> {
  const { baseUrl: service } = setup.service;
  const server = createHttpServer({
    service,
    createAgent: (token, connections) => {
      const logins = createKeptLogins('/nowhere');
      const user = { service, logins, token, tokenFile: undefined, as: undefined, say: () => undefined };
      const parts = { service, identity: new Identity(user), agent: 'assistant', version: '1', connections };
      return createAgent(parts, { draft: true });
    },
  });
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const bearer = async (user: string) => ({ authorization: `Bearer ${await setup.service.token(user)}` });

test.each([
  ['HTTP', async (host: string) => createHttpStream(`http://${host}/`, { headers: await bearer('alice') })],
  [
    'WebSocket',
    async (host: string) =>
      createWebSocketStream(`ws://${host}/`, {
        headers: await bearer('alice'),
        WebSocket: WebSocket as unknown as WebSocketConstructor,
      }),
  ],
])('over %s: a prompt with a question', async (_, streamTo) => {
  setup.server.play(asking);
  const editor = await playEditor(await streamTo(await listening()), { answer: () => lisbon });
  const id = await editor.newSession();
  setup.service.begun(id);
  expect(await editor.prompt(id, callAsk)).toEqual({ stopReason: 'end_turn' });
  await editor.until(() => editor.said(id) === 'done');
  editor.close();
});

const greeting = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } };
const listSessions = { jsonrpc: '2.0', id: 2, method: 'session/list', params: {} };

function post(host: string, headers: Record<string, string>, body: object = greeting): Promise<Response> {
  return fetch(`http://${host}/`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

test('over HTTP: wrong tokens, however many, neither close a signed-in editor nor keep another one out', async () => {
  const host = await listening();
  const alice = await bearer('alice');
  const begun = await post(host, alice);
  const connection = { 'acp-connection-id': begun.headers.get('acp-connection-id') ?? '' };
  const wrong = await Promise.all(
    Array.from({ length: 100 }, (_, n) => post(host, { authorization: `Bearer wrong-${n}` })),
  );
  expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([401]));
  expect((await post(host, { ...alice, ...connection }, listSessions)).status).toBe(202);
  expect((await post(host, await bearer('bob'))).status).toBe(200);
});

test('over HTTP: one user’s tokens, however many, close no connection of another user', async () => {
  const host = await listening();
  const alice = await bearer('alice');
  const begun = await post(host, alice);
  const connection = { 'acp-connection-id': begun.headers.get('acp-connection-id') ?? '' };
  const statuses = [];
  for (let n = 0; n < 70; n += 1) statuses.push((await post(host, await bearer('bob'))).status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect((await post(host, { ...alice, ...connection }, listSessions)).status).toBe(202);
});

test('a connection with an open question is kept; a user with too many of them gets no further token in', async () => {
  const host = await listening();
  const most = 8;
  setup.server.play(...Array.from({ length: most }, () => asking));
  const decided = Promise.withResolvers<typeof lisbon>();
  const editors = [];
  const prompts = [];
  for (let n = 0; n < most; n += 1) {
    const stream = createWebSocketStream(`ws://${host}/`, {
      headers: await bearer('alice'),
      WebSocket: WebSocket as unknown as WebSocketConstructor,
    });
    const editor = await playEditor(stream, { answer: () => decided.promise });
    editors.push(editor);
    const id = await editor.newSession();
    setup.service.begun(id);
    prompts.push(editor.prompt(id, callAsk));
    await editor.until(() => editor.elicitations.length > 0);
  }
  const alice = await bearer('alice');
  const refused = await post(host, alice);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  const [notUpgraded] = (await once(new WebSocket(`ws://${host}/`, { headers: alice }), 'error')) as [Error];
  expect(notUpgraded.message).toContain('503');
  expect((await post(host, await bearer('bob'))).status).toBe(200);
  decided.resolve(lisbon);
  expect(await Promise.all(prompts)).toEqual(prompts.map(() => ({ stopReason: 'end_turn' })));
  expect((await post(host, alice)).status).toBe(200);
  for (const editor of editors) editor.close();
});

test('over HTTP: no token, a wrong one, a page of the web and somebody else’s connection get nothing', async () => {
  const host = await listening();
  expect((await post(host, {})).status).toBe(401);
  expect((await post(host, { authorization: 'Bearer nonsense' })).status).toBe(401);
  expect((await post(host, { ...(await bearer('alice')), origin: 'https://evil.example' })).status).toBe(401);
  const alice = await post(host, await bearer('alice'));
  const connection = alice.headers.get('acp-connection-id') ?? '';
  expect(connection).not.toBe('');
  const bob = await post(host, { ...(await bearer('bob')), 'acp-connection-id': connection }, listSessions);
  expect(bob.status).toBe(404);
  const socket = new WebSocket(`ws://${host}/`);
  const [refused] = (await once(socket, 'error')) as [Error];
  expect(refused.message).toContain('401');
});
