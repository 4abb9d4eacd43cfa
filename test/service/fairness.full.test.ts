/** Two tenants share one worker, on a Temporal with fairness switched on. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { settings, startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { requireNamespace } from '../../src/platform/temporal/namespace.ts';
import { createApiKey } from '../../src/service/api-keys.ts';
import { freePort } from '../free-port.ts';
import { installQuietRuntime } from '../quiet-runtime.ts';
import { startService } from './service.ts';
import type { Service } from './service.ts';
import { createCaller } from './user.ts';

/** In each partition of a task queue. A poll asks one of them at random, so with several the order is not certain. */
const fairness = [
  '--dynamic-config-value=matching.enableFairness=true',
  '--dynamic-config-value=matching.numTaskqueueReadPartitions=1',
  '--dynamic-config-value=matching.numTaskqueueWritePartitions=1',
];
const stack = new AsyncDisposableStack();
let service: Service;
let queue: string;
/** The turn whose task a worker would get next. */
let takeTask: () => Promise<string>;

beforeAll(async () => {
  installQuietRuntime();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'interlude-fairness-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  settings.push(...fairness);
  const server = await startTemporalServer({
    temporal: { namespace: 'default', port: await freePort(), uiPort: await freePort() },
    dataDir,
    logger: pino({ level: 'silent' }),
  }).finally(() => settings.splice(-fairness.length));
  stack.defer(() => server.stop());
  const connection = await NativeConnection.connect({ address: server.address });
  stack.defer(() => connection.close());
  const own = await Connection.connect({ address: server.address });
  stack.defer(() => own.close());
  await requireNamespace(own, 'default');
  service = await startService({
    temporal: { client: new Client({ connection: own }), connection },
    startWorkers: async ({ config }) => void (queue = config.temporal.taskQueue),
  });
  stack.defer(() => service.stop());
  takeTask = async () => {
    const request = { namespace: 'default', taskQueue: { name: queue }, identity: 'test' };
    const { workflowExecution } = await own.withDeadline(Date.now() + 20_000, () =>
      own.workflowService.pollWorkflowTaskQueue(request),
    );
    return workflowExecution?.workflowId ?? '';
  };
});
afterAll(() => stack.disposeAsync());

test(
  'the turn of a tenant comes before most of those that another has queued earlier',
  { timeout: 120_000 },
  async () => {
    const callerOf = async (tenant: string) =>
      createCaller(service.baseUrl, await createApiKey(service.storage, tenant));
    const [busy, calm] = await Promise.all([callerOf('busy'), callerOf('calm')]);
    for (let n = 0; n < 20; n += 1) (await busy.chat('hello')).close();
    (await calm.chat('hello')).close();
    await expect.poll(() => service.storage.turns.starting(100)).toMatchObject({ turns: 21 });
    const order = [];
    for (let n = 0; n < 6; n += 1) order.push(await takeTask());
    expect(order.filter((id) => id.startsWith('turn/calm/'))).toHaveLength(1);
  },
);
