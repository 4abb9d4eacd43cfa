/**
 * The model step after a call, which the activity of the call makes: what becomes of both when the model fails. Real time
 * passes in an activity, and none between its attempts.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { createTurnWorker } from '../../src/platform/processes/workers/turn-workers.ts';
import { asks, form, startScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import type { ScriptedMcpServer } from '../servers/scripted-mcp-server.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import type { OpenAIServer, Reply } from '../servers/openai-server.ts';
import type { ChatStream } from '../service/chat-stream.ts';
import { startService } from '../service/service.ts';
import type { Service, ServiceOptions } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { createTimeSkipping, temporalOf } from '../time-skipping.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { idOf } from './waiting.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/next-step-agents.yaml', import.meta.url));

let environment: TestWorkflowEnvironment;
let service: Service;
let model: OpenAIServer;
let server: ScriptedMcpServer;
let stack: AsyncDisposableStack;
let replies: Reply[] = [];

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  server = await startScriptedMcpServer();
  stack.defer(() => server.stop());
  model = await createOpenAIServer({ reply: () => replies.shift() ?? failing() });
  stack.defer(() => model.stop());
  service = await startOn(temporalOf(environment));
});
afterEach(() => stack.disposeAsync());

async function startOn(temporal: ServiceOptions['temporal'], silenceMs = 2_000): Promise<Service> {
  const started = await startService({
    temporal,
    env: { INTERLUDE_CONFIG: agentsFile, MODEL_URL: model.baseURL, ASKING_URL: server.url },
    async startWorkers(parts, ends) {
      const silenceLimits = { firstMs: silenceMs, nextMs: silenceMs };
      const own = { ...parts, heldCallLimit: createHeldCallLimit(1), silenceLimits };
      const worker = await createTurnWorker(own, temporal.connection, {
        workflowBundle: await workflowBundle(),
      });
      const running = worker.run();
      ends.defer(async () => {
        worker.shutdown();
        await running;
        await parts.remote.close();
      });
    },
  });
  stack.defer(() => started.stop());
  return started;
}

const call = (name = 'asking__ask', ...ids: string[]): Reply => ({
  kind: 'tool-calls',
  calls: (ids.length > 0 ? ids : ['c1']).map((id) => ({ id, name, arguments: '{}' })),
});
const says = (...chunks: string[]): Reply => ({ kind: 'text', chunks });
const failing = (status = 500): Reply => ({ kind: 'status', status });

interface Turn {
  stream: ChatStream;
  conversation: string;
  status: string;
  /** The activities in the order in which they were scheduled, by their summaries. */
  activities: string[];
  events: number;
}

async function run(...given: Reply[]): Promise<Turn> {
  return ended(await begin(...given));
}

async function begin(...given: Reply[]): Promise<Pick<Turn, 'stream' | 'conversation'>> {
  replies = given;
  const conversation = randomUUID();
  const alice = await service.as('alice');
  return { conversation, stream: await alice.chat('go on', { conversation }) };
}

async function ended(
  begun: Pick<Turn, 'stream' | 'conversation'>,
  id = idOf(begun),
  { client }: Pick<ServiceOptions['temporal'], 'client'> = environment,
): Promise<Turn> {
  const handle = client.workflow.getHandle(id);
  const { status } = (await handle.result()) as { status: string };
  await begun.stream.finished();
  const { events } = await handle.fetchHistory();
  const activities = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: of, userMetadata }) => {
    const summary = Buffer.from(userMetadata?.summary?.data ?? []).toString();
    return of ? [`${of.activityType?.name}: ${summary.replaceAll('"', '')}`] : [];
  });
  return { ...begun, status, activities, events: events?.length ?? 0 };
}

const errorsIn = ({ stream }: Turn) =>
  stream.chunks.flatMap(({ type, errorText }) => (type === 'error' ? [errorText] : []));

/** In the end: what was said in vain is not part of it. */
async function saidIn({ conversation }: Turn): Promise<unknown> {
  const messages = await service.storage.messages.list({ tenant: 'demo', conversation });
  return messages.at(-1)?.content;
}

const both = ['callModel: model step 1', 'callTool: asking__ask → step 2'];

test('one activity makes a call and the step after it, which ends the turn', async () => {
  const turn = await run(call(), says('Done.'));
  expect(turn).toMatchObject({ status: 'completed', activities: both });
  expect(turn.stream.text()).toBe('Done.');
  expect(server.calls).toHaveLength(1);
  expect(model.requests).toHaveLength(2);
  expect(turn.events).toBe((await run(says('Nothing to do.'))).events + 6);
});

describe('the call has its result, and is not made again, where the model', () => {
  test.each<[string, Reply[]]>([
    ['fails once', [failing()]],
    ['fails five times', Array.from({ length: 5 }, () => failing())],
    ['breaks off, so that its words are void', [{ kind: 'cut', chunks: ['Do'] }]],
    ['falls silent', [{ kind: 'hang', chunks: ['Do'] }]],
    ['never says anything', [{ kind: 'hang', chunks: [] }]],
  ])('%s', async (_, failures) => {
    const turn = await run(call(), ...failures, says('Done.'));
    expect(turn).toMatchObject({ status: 'completed', activities: [...both, 'callModel: model step 2'] });
    expect(await saidIn(turn)).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(errorsIn(turn)).toEqual([]);
    expect(server.calls).toHaveLength(1);
    expect(model.requests).toHaveLength(2 + failures.length);
  });

  test.each([
    ['fails as often as it is asked', 500],
    ['refuses the key', 401],
  ])('%s: the turn fails with the words of a turn without a call', async (_, status) => {
    const plain = await run(...Array.from({ length: 5 }, () => failing(status)));
    expect(plain.status).toBe('failed');
    expect(errorsIn(plain)).toHaveLength(1);
    const turn = await run(call(), ...Array.from({ length: 6 }, () => failing(status)));
    expect(turn.status).toBe('failed');
    expect(errorsIn(turn)).toEqual(errorsIn(plain));
    expect(server.calls).toHaveLength(1);
  });
});

test('a call that asks is made again after the answer, and only then the model goes on', async () => {
  server.play(asks({ one: form('One') }, 's1'));
  const begun = await begin(call(), says('Done.'));
  const { elicitationId } = await begun.stream.question('pending');
  expect(model.requests).toHaveLength(1);
  const alice = await service.as('alice');
  await alice.answer({ conversationId: begun.conversation, elicitationId, action: 'decline' });
  const turn = await ended(begun);
  expect(turn).toMatchObject({ status: 'completed', activities: [...both, both[1]] });
  expect(turn.stream.text()).toBe('Done.');
  expect(server.calls).toHaveLength(2);
  expect(model.requests).toHaveLength(2);
});

test('of several calls at once, none goes on: the model reads all results', async () => {
  const turn = await run(call('asking__ask', 'c1', 'c2'), says('Done.'));
  const calls = ['callTool: asking__ask', 'callTool: asking__ask'];
  expect(turn.activities).toEqual([both[0], ...calls, 'callModel: model step 2']);
  expect(server.calls).toHaveLength(2);
});

test('each step goes on with the next one, as far as the limit allows', async () => {
  const turn = await run(call(), call(), call(), says('Never asked.'));
  expect(turn).toMatchObject({
    status: 'failed',
    activities: [...both, 'callTool: asking__ask → step 3', 'callTool: asking__ask'],
  });
  expect(server.calls).toHaveLength(3);
  expect(model.requests).toHaveLength(3);
});

test('a delegated agent goes on in the same way, and does not end the turn', async () => {
  const task = { id: 'd1', name: 'agent__assistant', arguments: JSON.stringify({ task: 'Look.' }) };
  replies = [{ kind: 'tool-calls', calls: [task] }, call(), says('Seen.'), says('Done.')];
  const conversation = randomUUID();
  const alice = await service.as('alice');
  const stream = await alice.chat('go on', { conversation, agentId: 'lead' });
  const turn = await ended({ conversation, stream });
  expect(turn.activities).toEqual(['callModel: model step 1', 'callModel: model step 2']);
  expect(turn.stream.text()).toContain('Done.');
  const child = await ended({ conversation, stream }, `${idOf({ conversation, stream })}/agent/d1`);
  expect(child).toMatchObject({ status: 'completed', activities: both });
  expect(server.calls).toHaveLength(1);
});

describe('on a real server, because the one that skips time can lose a cancelled activity', () => {
  const temporal = useDevelopmentServer();
  test('a turn that is cancelled while the model speaks ends as cancelled, and the call keeps its result', async () => {
    service = await startOn(temporal, 60_000);
    const begun = await begin(call(), { kind: 'hang', chunks: ['Do'] });
    await begun.stream.until(({ type }) => type === 'text-delta');
    const alice = await service.as('alice');
    await alice.cancel(begun.conversation);
    const turn = await ended(begun, idOf(begun), temporal);
    expect(turn.status).toBe('cancelled');
    expect(await model.requests[1]?.ended).toBe('left');
    expect(turn.stream.chunks.some(({ type }) => type === 'tool-output-available')).toBe(true);
    expect(turn.activities).toEqual(both);
  });
});
