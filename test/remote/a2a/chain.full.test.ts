/** Interlude asks Interlude over A2A, whose MCP server asks: each hop has a question and an id of its own. */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { listen } from '../../../demo/listen.ts';
import { accept, asTurn } from '../../asking/asking-service.ts';
import { asks, form, page, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import { startService } from '../../service/service.ts';
import type { Service } from '../../service/service.ts';
import { useService } from '../../service/use-service.ts';

let server: ScriptedMcpServer;
let far: Service;

const { temporal, alice } = useService({ needs });
async function needs(stack: AsyncDisposableStack) {
  server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  const env = {
    INTERLUDE_CONFIG: fileURLToPath(new URL('../../fixtures/remote-chain-agents.yaml', import.meta.url)),
    ASKING_URL: server.url,
  };
  far = await startService({ temporal, env: { ...env, DELEGATION_MAX_DEPTH: '1' } });
  stack.defer(() => far.stop());
  const cards = await startCards(far.baseUrl);
  stack.defer(() => cards.stop());
  return {
    env: {
      ...env,
      ...cards.env,
      FAR: far.baseUrl,
      NEXT_CARD: `${far.baseUrl}/run/agents/assistant/a2a/.well-known/agent-card.json`,
      NEXT_AUTHORIZATION: `Bearer ${await far.token('alice')}`,
    },
  };
}

/** The far agent's card with one of its interfaces, each at an address of its own. */
async function startCards(baseUrl: string) {
  const address = `${baseUrl}/run/agents/assistant/a2a/.well-known/agent-card.json`;
  const card = (await (await fetch(address, { headers: { 'a2a-version': '1.0' } })).json()) as {
    supportedInterfaces: { protocolBinding: string; protocolVersion: string }[];
  };
  const wanted: Record<string, (one: (typeof card.supportedInterfaces)[number]) => boolean> = {
    REST: (one) => one.protocolBinding === 'HTTP+JSON' && one.protocolVersion === '1.0',
    OLDRPC: (one) => one.protocolBinding === 'JSONRPC' && one.protocolVersion === '0.3',
  };
  const http = createServer((request, response) => {
    const is = wanted[request.url?.slice(1) ?? ''];
    const supportedInterfaces = card.supportedInterfaces.filter((one) => is?.(one));
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ...card, supportedInterfaces }));
  });
  const { port, stop } = await listen(http, 0, 'none');
  const env = Object.keys(wanted).map((name) => [`${name}_CARD`, `http://127.0.0.1:${port}/${name}`]);
  return { env: Object.fromEntries(env) as Record<string, string>, stop };
}

const say = (text: string) =>
  asTurn(alice, randomUUID(), (conversation) => alice.chat(text, { conversation }));

const named = { city: { type: 'string', title: 'City', minLength: 2 } };

async function questionsAtFar(): Promise<string[]> {
  const caller = await far.as('alice');
  const { body } = await caller.request('GET', '/run/v1/conversations');
  const [latest] = body['items'] as { id: string }[];
  const found = await caller.request('GET', `/run/v1/conversations/${latest?.id}/elicitations`);
  return (found.body['items'] as { elicitationId: string }[]).map(({ elicitationId }) => elicitationId);
}

test('a form passes two services, with a question of its own at each', async () => {
  server.play(asks({ city: form('Which city?', named) }));
  const turn = await say('ask the next to call asking__ask {}');
  const question = await turn.question(0);
  expect(question).toMatchObject({
    mode: 'form',
    message: 'Which city?',
    requestedSchema: { properties: named },
    context: { trigger: 'a2a_input_required', serverTitle: 'Next' },
  });
  const there = await questionsAtFar();
  expect(there).toHaveLength(1);
  expect(there).not.toContain(question.elicitationId);
  expect(await turn.answer(0, accept({ city: 'Lisbon' }))).toMatchObject({ status: 200 });
  expect((await turn.end()).text).toBe('I was told: done');
  expect(server.calls[1]?.params.inputResponses).toEqual({
    city: { action: 'accept', content: { city: 'Lisbon' } },
  });
});

test.each([
  ['rest', 'HTTP+JSON', '1.0'],
  ['oldrpc', 'JSONRPC', '0.3'],
])('a form passes through %s (%s of %s) as through JSON-RPC of 1.0', async (name) => {
  server.play(asks({ city: form('Which city?', { city: named.city }) }));
  const turn = await say(`ask the ${name} to call asking__ask {}`);
  expect(await turn.question(0)).toMatchObject({ mode: 'form', message: 'Which city?' });
  await turn.answer(0, accept({ city: 'Lisbon' }));
  expect((await turn.end()).text).toBe('I was told: done');
  server.play(asks({ there: page('https://example.com/a') }));
  const left = await say(`ask the ${name} to call asking__ask {}`);
  expect(await left.question(0)).toMatchObject({ mode: 'url', url: 'https://example.com/a' });
  await alice.cancel(left.conversation);
  await left.end();
  await expect.poll(questionStatusAtFar).toBe('cancel');
});

test.each(['decline', 'cancel'])('“%s” arrives at the server as what it is', async (action) => {
  server.play(asks({ city: form('Which city?', named) }));
  const turn = await say('ask the next to call asking__ask {}');
  await turn.answer(0, { action });
  await turn.end();
  expect(server.calls[1]?.params.inputResponses).toEqual({ city: { action } });
});

test('a link passes two services, and waits for what the far one learns', async () => {
  server.play(asks({ there: page('https://example.com/a') }));
  const turn = await say('ask the next to call asking__ask {}');
  expect(await turn.question(0)).toMatchObject({
    mode: 'url',
    url: 'https://example.com/a',
    context: { trigger: 'a2a_auth_required' },
  });
  const caller = await far.as('alice');
  const { body } = await caller.request('GET', '/run/v1/conversations');
  const [latest] = body['items'] as { id: string }[];
  const [id = ''] = await questionsAtFar();
  await caller.answer({ conversationId: latest?.id ?? '', elicitationId: id, action: 'accept' });
  expect((await turn.end()).text).toBe('I was told: done');
});

test('the end of the first turn is the end of the second', async () => {
  server.play(asks({ city: form('Which city?', named) }));
  const turn = await say('ask the next to call asking__ask {}');
  await turn.question(0);
  await alice.cancel(turn.conversation);
  await turn.end();
  await expect.poll(questionStatusAtFar).toBe('cancel');
});

async function questionStatusAtFar(): Promise<unknown> {
  const caller = await far.as('alice');
  const { body } = await caller.request('GET', '/run/v1/conversations');
  const [latest] = body['items'] as { id: string }[];
  const found = await caller.request('GET', `/run/v1/conversations/${latest?.id}/elicitations`);
  return (found.body['items'] as { status: string }[] | undefined)?.[0]?.status;
}

test('a task that goes on from service to service comes to an end', async () => {
  const turn = await say('ask the next to ask the next to say hello');
  expect((await turn.end()).text).toContain('Next was not asked: agents may hand a task on once at most');
});

test('an agent that needs an account asks for it like a server', async () => {
  const turn = await say('ask the locked to say hello');
  expect(await turn.question(0)).toMatchObject({
    mode: 'url',
    context: { trigger: 'credential_required', server: 'locked' },
  });
  await turn.answer(0, { action: 'decline' });
  expect((await turn.end()).error).toContain('Locked');
});
