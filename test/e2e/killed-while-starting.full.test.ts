/**
 * One of two workers is killed with -9 while turns start. It is stopped first, so that Temporal surely gives it work that
 * it never does, through the requests for work that it has left open.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';
import { createOpenAIServer } from '../servers/openai-server.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';
import { say, textOf, workflowIdOf } from './watch.ts';

let deployment: Deployment;
let workers: ServiceProcess[];
let client: Client;

beforeAll(async () => {
  const model = await createOpenAIServer({
    reply: ({ messages }) => {
      const last = messages.at(-1);
      if (JSON.stringify(last?.content).includes('delegate'))
        return {
          kind: 'tool-calls',
          calls: [{ name: 'agent__helper', arguments: JSON.stringify({ task: 'Say hello.' }) }],
        };
      return { kind: 'text', chunks: ['Hello.'] };
    },
  });
  const temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      DATABASE_URL: await postgresUrl(),
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
      RATE_LIMIT_PER_MINUTE: '1000',
      OPEN_REQUESTS_PER_USER: '1000',
      OPEN_REQUESTS_PER_ADDRESS: '1000',
    },
  });
  deployment.defer(() => model.stop());
  const config = path.join(deployment.dataDir, 'agents.yaml');
  await writeFile(
    config,
    `providers: { openai-compatible: { baseURL: '${model.baseURL}' } }
agents:
  assistant: { model: 'openai-compatible:any', agents: [helper] }
  helper: { model: 'openai-compatible:any' }
`,
  );
  deployment.environment['INTERLUDE_CONFIG'] = config;
  const temporal = await deployment.startTemporal(temporalPort);
  const connection = await Connection.connect({ address: temporal.address });
  deployment.defer(() => connection.close());
  client = new Client({ connection });
  [, ...workers] = await Promise.all([
    deployment.start('server'),
    deployment.start('worker'),
    deployment.start('worker'),
  ]);
}, 90_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function eventsOf(workflowId: string) {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return events ?? [];
}

const seconds = (duration: { seconds?: unknown } | null | undefined) => Number(duration?.seconds);

test(
  'a worker is killed while 100 turns start: the other one gets its tasks within five seconds, and every turn ends',
  { timeout: 150_000 },
  async () => {
    const alice = deployment.client('alice');
    const [killed] = workers;
    process.kill(killed!.pid, 'SIGSTOP');
    const turns = Array.from({ length: 100 }, () => say(alice, 'hello'));
    await Promise.race(turns.map((turn) => turn.end()));
    await killed!.kill('SIGKILL');

    for (const view of await Promise.all(turns.map((turn) => turn.end()))) {
      expect(view.status).toBe('completed');
      expect(textOf(view)).toBe('Hello.');
    }
    const histories = await Promise.all(turns.map((turn) => eventsOf(workflowIdOf(turn))));
    const events = histories.flat();
    // The protocol's number of "start to close": a worker took the task and did not complete it.
    const lost = events.filter(
      ({ workflowTaskTimedOutEventAttributes: timedOut }) => timedOut?.timeoutType === 1,
    );
    expect(lost).not.toHaveLength(0);
    const limits = events.flatMap(({ workflowTaskScheduledEventAttributes: scheduled }) =>
      scheduled ? [seconds(scheduled.startToCloseTimeout)] : [],
    );
    expect(new Set(limits)).toEqual(new Set([5]));
  },
);

test('the tasks of a delegate have the same time-out as those of its turn', async () => {
  const turn = say(deployment.client('alice'), 'delegate');
  expect((await turn.end()).status).toBe('completed');
  const parent = workflowIdOf(turn);
  const delegates = (await eventsOf(parent)).flatMap(
    ({ childWorkflowExecutionStartedEventAttributes: started }) =>
      started?.workflowExecution?.workflowId ? [started.workflowExecution.workflowId] : [],
  );
  expect(delegates).toHaveLength(1);
  const [started] = await eventsOf(delegates[0]!);
  expect(seconds(started?.workflowExecutionStartedEventAttributes?.workflowTaskTimeout)).toBe(5);
});
