/**
 * The development server takes settings it does not know in silence, so what can be told from outside is seen at work. Not
 * `transferProcessorMaxPollRPS`: how long hops of a workflow take differs more from run to run than with it and without.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readTools } from '../../../scripts/setup/tools.mjs';
import { settings, startTemporalServer } from '../../../src/platform/development/temporal-server.ts';
import { freePort } from '../../free-port.ts';

const namespace = 'default';
const deployedSettings = path.resolve(import.meta.dirname, '../../../deploy/temporal-dynamic-config.yaml');
/** `RESOURCE_EXHAUSTED` in gRPC, `SCHEDULE_ACTIVITY_TASK` and `WORKFLOW` in Temporal's API. */
const resourceExhausted = 8;
const scheduleActivityTask = 1;
const stack = new AsyncDisposableStack();
let dataDir: string;
let connection: Connection;
let temporal: Connection['workflowService'];

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'interlude-settings-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  const server = await startTemporalServer({
    temporal: { namespace, port: await freePort(), uiPort: await freePort() },
    dataDir,
    logger: pino({ level: 'silent' }),
  });
  stack.defer(() => server.stop());
  // Without interceptors: a client's own retries would hide what the server refuses.
  connection = await Connection.connect({ address: server.address, interceptors: [] });
  stack.defer(() => connection.close());
  temporal = connection.workflowService;
});
afterAll(() => stack.disposeAsync());

async function start(queue: string, workflowId: string) {
  await temporal.startWorkflowExecution({
    namespace,
    workflowId,
    requestId: workflowId,
    workflowType: { name: 'any' },
    taskQueue: { name: queue },
  });
}

function takeTask(queue: string) {
  return connection.withDeadline(Date.now() + 20_000, () =>
    temporal.pollWorkflowTaskQueue({ namespace, taskQueue: { name: queue }, identity: 'test' }),
  );
}

// Nobody sees from outside what `synchronous` is: it belongs to the server's own connection, stands nowhere in the file, and
// makes a difference only in a power cut.
test('the write-ahead log', () => {
  expect(existsSync(path.join(dataDir, 'temporal.db-wal'))).toBe(true);
});

test('an activity is handed back in the same round trip that schedules it', async () => {
  await start('eager', 'eager');
  const { taskToken } = await takeTask('eager');
  const scheduled = {
    activityId: '1',
    activityType: { name: 'any' },
    taskQueue: { name: 'eager' },
    requestEagerExecution: true,
    startToCloseTimeout: { seconds: 10 as never },
  };
  const { activityTasks } = await temporal.respondWorkflowTaskCompleted({
    namespace,
    taskToken,
    identity: 'test',
    commands: [{ commandType: scheduleActivityTask, scheduleActivityTaskCommandAttributes: scheduled }],
  });
  expect(activityTasks).toHaveLength(1);
});

test('many queries of one workflow wait together', async () => {
  await start('queries', 'queries');
  // While this task is under way, queries are kept until it is done.
  await takeTask('queries');
  const codes = await Promise.all(Array.from({ length: 10 }, () => query()));
  expect(codes).not.toContain(resourceExhausted);

  async function query(): Promise<number | undefined> {
    try {
      const question = { execution: { workflowId: 'queries' }, query: { queryType: 'any' } };
      await connection.withDeadline(Date.now() + 1_000, () =>
        temporal.queryWorkflow({ namespace, ...question }),
      );
      return undefined;
    } catch (error) {
      return isGrpcServiceError(error) ? Number(error.code) : undefined;
    }
  }
});

test('every key is one that the server knows, in its own spelling, in the Compose file, too', () => {
  const keys = settings.flatMap((flag) => /^--dynamic-config-value=([^=]+)=/.exec(flag)?.[1] ?? []);
  const deployed = Object.keys(parse(readFileSync(deployedSettings, 'utf8')) as object);
  for (const named of [keys, deployed]) expect(named).toContain('history.transferProcessorMaxPollRPS');
  const executable = readFileSync(readTools().temporal ?? '');
  const unknown = (names: string[]) => names.filter((name) => !executable.includes(name));
  expect(unknown([...keys, ...deployed])).toEqual([]);
  expect(unknown(['history.maxBufferedQueryCount'])).toEqual(['history.maxBufferedQueryCount']);
});
