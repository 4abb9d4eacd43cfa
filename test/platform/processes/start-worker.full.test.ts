/** A worker of turns and the workers of tools start side by side: whichever fails, nothing of the other is left behind. */
import { NativeConnection } from '@temporalio/worker';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Dependencies } from '../../../src/platform/processes/dependencies.ts';
import { startWorker } from '../../../src/platform/processes/start-worker.ts';
import { grpcStatus } from '../../../src/platform/temporal/grpc-status.ts';
import { readTurnCode } from '../../../src/platform/processes/workers/turn-code.ts';
import type { ToolBundle } from '../../../src/platform/tool-bundles/tool-bundle.ts';
import { startDevelopmentServer } from '../../development-server.ts';
import { bundleTools } from '../../durable-tools/bundle-tools.ts';
import { startService } from '../../service/service.ts';

// With threads, as in production.
vi.stubEnv('TEMPORAL_DEBUG', undefined);
afterAll(() => vi.unstubAllEnvs());

let ends: Promise<unknown>[];
const noteEnd = (thread: Worker) => void ends.push(new Promise((resolve) => thread.once('exit', resolve)));
beforeEach(() => {
  ends = [];
  process.on('worker', noteEnd);
});
afterEach(() => void process.off('worker', noteEnd));

const broken = 'this is no code';
const tools = await bundleTools();

async function setUp() {
  const temporal = await startDevelopmentServer();
  onTestFinished(() => temporal.stop());
  let parts: Dependencies | undefined;
  const service = await startService({
    temporal,
    startWorkers: async (given) => void (parts = given),
  });
  onTestFinished(() => service.stop());
  if (!parts) throw new Error('the service has started without workers');
  const connection = await NativeConnection.connect({ address: temporal.address });
  return { parts, connection, client: temporal.client };
}

const openedTools = (bundles: ToolBundle[]) =>
  new Map(bundles.map((bundle, n) => [`agent${n}`, { bundle }] as const));

/** Resolves with what it failed with, once all threads have ended; rejects where a worker still holds the connection. */
async function startWith(turns: string, offered: ToolBundle[]): Promise<unknown> {
  const { parts, connection, client } = await setUp();
  const stack = new AsyncDisposableStack();
  const failure = await startWorker(
    parts,
    {
      connection,
      client,
      code: { code: turns, buildId: 'one', needs: 1 },
      tools: openedTools(offered),
      isAlone: false,
    },
    stack,
  ).catch((error: unknown) => error);
  await stack.disposeAsync();
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('interlude-tools-'))).toEqual([]);
  await expect.poll(() => ends.length).toBeGreaterThan(0);
  await Promise.all(ends);
  await connection.close();
  return failure;
}

test('an agent that is gone exposes nothing any more, also after a change that could not be written', async () => {
  const { parts, connection, client } = await setUp();
  const { storage, config } = parts;
  const [assistant] = config.agents.values();
  if (!assistant) throw new Error('there is no agent');
  config.agents.set('agent0', assistant);
  const [first] = tools.manifest;
  const exposing = (hash: string) => ({
    ...tools,
    hash,
    manifest: first ? [{ ...first, name: 'greet', expose: true as const }] : [],
  });
  let isAway = false;
  const replace: typeof storage.exposedTools.replace = async (...given) => {
    if (isAway) throw new Error('the database is away');
    await storage.exposedTools.replace(...given);
  };
  const stack = new AsyncDisposableStack();
  const worker = await startWorker(
    { ...parts, storage: { ...storage, exposedTools: { ...storage.exposedTools, replace } } },
    {
      connection,
      client,
      code: await readTurnCode(),
      tools: openedTools([exposing('one')]),
      isAlone: false,
    },
    stack,
  );
  const exposed = async () => (await storage.exposedTools.list()).map(({ agent }) => agent);
  expect(await exposed()).toEqual(['agent0']);
  isAway = true;
  const left = new Map([['other', { bundle: exposing('two') }]]);
  await expect(worker.offer(left, ['other'])).rejects.toThrow('away');
  expect(await exposed()).toEqual(['agent0']);
  isAway = false;
  await worker.offer(left, ['other']);
  expect(await exposed()).toEqual(['other']);
  await stack.disposeAsync();
  await connection.close();
});

test('a start that waits until its version is current ends when the process stops', async () => {
  const { parts, connection, client } = await setUp();
  const asked = Promise.withResolvers<void>();
  vi.spyOn(connection.workflowService, 'describeWorkerDeploymentVersion').mockImplementation(() => {
    asked.resolve();
    return Promise.reject(Object.assign(new Error('unknown'), { code: grpcStatus.notFound }));
  });
  const stop = new AbortController();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => connection.close());
  const started = startWorker(
    parts,
    {
      connection,
      client,
      code: await readTurnCode(),
      tools: openedTools([]),
      kind: 'start',
      isAlone: false,
      signal: stop.signal,
    },
    stack,
  );
  await asked.promise;
  stop.abort();
  await expect(started).rejects.toThrow('aborted');
});

test('code of turns that cannot be loaded leaves no worker of tools', async () => {
  expect(await startWith(broken, [tools])).toBeInstanceOf(Error);
});

test('code of tools that cannot be loaded leaves no worker of turns, and none of other tools', async () => {
  const brokenTools = { ...tools, hash: 'broken', workflows: broken };
  expect(await startWith((await readTurnCode()).code, [tools, brokenTools])).toBeInstanceOf(Error);
});
