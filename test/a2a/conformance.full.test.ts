/** The scenarios of the A2A TCK, over both transports; and the kit itself where `A2A_TCK` names a checkout of its 1.0 or 0.3. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { answerOf, connectAgent, readStream, stateOf, watch } from './a2a-client.ts';
import { startConformanceProfile } from './conformance-profile.ts';

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
    supportedInterfaces: [{}, {}, {}, {}],
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
