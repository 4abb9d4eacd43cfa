/** The scenarios of the A2A TCK, over both transports; and the kit itself where `A2A_TCK` names a checkout of its 1.0 or 0.3. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerOf, connectAgent, readStream, stateOf, watch } from './a2a-client.ts';
import { roundsAgents } from '../../asking/asking-service.ts';
import { freePort } from '../../free-port.ts';
import { asks, done, form, startScriptedMcpServer } from '../../servers/scripted-mcp-server.ts';
import type { ScriptedReply } from '../../servers/scripted-mcp-server.ts';
import { answer } from '../../servers/raw-mcp-server.ts';
import { startAsking } from '../../service/asking.ts';
import type { ServiceOptions } from '../../service/service.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';

/**
 * The service as the A2A TCK expects it: the prefix of a `messageId` says what the agent must do. A proxy turns the prefix into
 * a prompt for the scripted model, so each scenario is a real turn, and its question comes from a real MCP server.
 * The kit for 0.3 has no such prefixes: there, each task stays open whatever the answer.
 * The kit does not sign in and reuses `messageId`s: the proxy adds a user's token where a request has none, and makes each id new.
 */
interface Incoming {
  messageId?: unknown;
  taskId?: string;
  parts?: unknown;
}

const asksCity = 'call asking__ask {}';
const ofHistory = 'history message';

/** Asks until it gets an answer other than the kit's messages for the history. */
const asksUntilAnswered: ScriptedReply = (call, response) => {
  const given = JSON.stringify(call.params.inputResponses ?? {});
  const isAnswered = call.params.inputResponses !== undefined && !given.includes(ofHistory);
  const question = asks({ city: form('Which city?', { city: { type: 'string' } }) });
  answer(call, response, isAnswered ? done() : question);
};

/** By prefix, the prompt that makes the model do it; the model repeats anything else. */
const scenarios: [prefix: string, words: string][] = [
  ['tck-input-required', asksCity],
  ['tck-artifact-text', 'answer exactly: Generated text content'],
  ['tck-complete-task', 'answer exactly: Hello from TCK'],
];

async function startConformanceProfile(
  temporal: ServiceOptions['temporal'],
  stack: AsyncDisposableStack,
): Promise<{ url: string; token: string }> {
  const server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  server.play(...Array.from({ length: 2_000 }, () => asksUntilAnswered));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await startAsking({
    temporal,
    url: server.url,
    env: {
      INTERLUDE_CONFIG: roundsAgents,
      PUBLIC_URL: url,
      A2A_PUSH_TARGETS: 'local',
      RATE_LIMIT_PER_MINUTE: '100000',
      ELICITATION_MAX_OPEN: '1000',
      LIVE_TURNS_PER_USER: '1000',
    },
  });
  stack.defer(() => service.stop());
  const token = await service.token('alice');
  let count = 0;

  function prepared(message: Incoming, is03: boolean): Incoming {
    const { messageId, taskId } = message;
    if (typeof messageId !== 'string') return message;
    count += 1;
    const words = scenarios.find(([prefix]) => messageId.startsWith(prefix))?.[1];
    const isNew = taskId === undefined || taskId === '';
    return {
      ...message,
      messageId: `${messageId}.${count}`,
      ...(words !== undefined && isNew && { parts: [{ text: words }] }),
      ...(is03 && { parts: withText(message.parts, isNew ? asksCity : ofHistory) }),
    };
  }

  async function pass(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const is03 = incoming.headers['a2a-version'] === undefined;
    const body = rewritten(Buffer.concat(chunks).toString(), (message) => prepared(message, is03));
    const { host: _, 'content-length': __, ...headers } = incoming.headers;
    const target = forward(new URL(incoming.url ?? '/', service.baseUrl), {
      method: incoming.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...headers,
        ...(body !== '' && { 'content-length': Buffer.byteLength(body) }),
      },
    });
    outgoing.on('close', () => target.destroy());
    target.on('error', () => outgoing.destroy());
    target.on('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    target.end(body);
  }

  const proxy = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => outgoing.destroy());
  }).listen(port, '127.0.0.1');
  await once(proxy, 'listening');
  stack.defer(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { url, token };
}

function rewritten(text: string, prepare: (message: Incoming) => Incoming): string {
  let body: { message?: Incoming; params?: { message?: Incoming } };
  try {
    body = JSON.parse(text) as typeof body;
  } catch {
    return text;
  }
  const holder = body?.params ?? body;
  if (!holder?.message || typeof holder.message !== 'object') return text;
  holder.message = prepare(holder.message);
  return JSON.stringify(body);
}

/** Changes text parts only. */
function withText(parts: unknown, words: string): unknown {
  if (!Array.isArray(parts)) return parts;
  return parts.map((part: { kind?: unknown; text?: unknown }) =>
    part?.kind === 'text' && typeof part.text === 'string' ? { ...part, text: words } : part,
  );
}

const stack = new AsyncDisposableStack();
let url: string;
let token: string;
const temporal = useDevelopmentServer();
beforeAll(async () => {
  ({ url, token } = await startConformanceProfile(temporal, stack));
});
afterAll(() => stack.disposeAsync());

const kit = process.env['A2A_TCK'];
const python = process.env['A2A_TCK_PYTHON'] ?? 'python3';

test.runIf(kit)('the kit', { timeout: 900_000 }, async () => {
  const is10 = existsSync(`${kit}/tests/compatibility`);
  const tests10 = ['tests/compatibility/', `--sut-host=${url}`, '--transport=jsonrpc,http_json'];
  const tests03 = [
    'tests/mandatory',
    'tests/optional',
    '--test-scope=all',
    `--sut-url=${url}/run/agents/assistant/a2a`,
    '--transports=jsonrpc',
  ];
  const report = ['--tb=short', '-q', '-rfsx', '-p', 'no:cacheprovider'];
  const args = ['-m', 'pytest', ...(is10 ? tests10 : tests03), ...report];
  const child = spawn(python, args, { cwd: kit, stdio: 'inherit' });
  await once(child, 'close');
});

test('its card is found without a version', async () => {
  expect(await (await fetch(`${url}/.well-known/agent-card.json`)).json()).toMatchObject({
    supportedInterfaces: [{}, {}, {}],
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('a scenario of the kit over %s:', (transport) => {
  const connect = () => connectAgent({ baseUrl: url, token: async () => token }, { transport });
  const named = (prefix: string, more = {}) => ({ messageId: prefix, ...more });

  test('complete the task', async () => {
    const task = await (await connect()).send('x', named('tck-complete-task'));
    expect([stateOf(task), answerOf(task)]).toEqual(['COMPLETED', 'Hello from TCK']);
  });

  test('an artifact of text', async () => {
    const task = await (await connect()).send('x', named('tck-artifact-text'));
    expect(answerOf(task)).toBe('Generated text content');
  });

  test('input is required, given, and the task completes; a message after that is refused', async () => {
    const agent = await connect();
    const { id: taskId, contextId } = await agent.send('x', named('tck-input-required'));
    expect(stateOf(await agent.get(taskId))).toBe('INPUT_REQUIRED');
    await expect(agent.send('x', { taskId, contextId: 'another' })).rejects.toThrow(/another context/);
    const task = await agent.send('go on', named('tck-complete-task', { taskId }));
    expect([task.id, task.contextId, stateOf(task)]).toEqual([taskId, contextId, 'COMPLETED']);
    await expect(agent.send('x', named('tck-complete-task', { taskId }))).rejects.toThrow(/is over/);
    await expect(readStream(agent.client.resubscribeTask({ id: taskId, tenant: '' }))).rejects.toThrow(
      /over/,
    );
  });

  test.each(['tck-stream-001', 'tck-stream-003', 'tck-stream-ordering-001'])(
    '%s: in order',
    async (prefix) => {
      const kinds: string[] = [];
      const agent = await connect();
      for await (const { payload } of agent.stream('x', named(prefix))) kinds.push(payload?.$case ?? '');
      expect(kinds[0]).toBe('task');
      expect(kinds.slice(1).every((kind) => kind !== 'task')).toBe(true);
      expect(kinds.indexOf('artifactUpdate')).toBeGreaterThan(0);
      expect(kinds.at(-1)).toBe('statusUpdate');
    },
  );

  test('all streams of a task get the same in the same order, and one that is closed harms none', async () => {
    const agent = await connect();
    const { id } = await agent.send('x', named('tck-input-required'));
    const subscribed = () => agent.client.resubscribeTask({ id, tenant: '' });
    const closed = subscribed();
    await closed.next();
    const two = await Promise.all([watch(subscribed()), watch(subscribed())]);
    await closed.return(undefined);
    await agent.send('go on', { taskId: id });
    const [one, other] = await Promise.all(two.map(({ end }) => end));
    expect(one?.states.at(-1)).toBe('COMPLETED');
    expect(other?.states.at(-1)).toBe('COMPLETED');
  });

  test('a task that waits is cancelled; again is refused', async () => {
    const agent = await connect();
    const { id } = await agent.send('x', named('tck-input-required'));
    const cancel = () => agent.client.cancelTask({ id, tenant: '', metadata: undefined });
    expect(stateOf(await cancel())).toBe('CANCELED');
    await expect(cancel()).rejects.toThrow(/over/);
  });
});
