/**
 * A process with nothing of ours in it: a Temporal worker and client, an HTTP server, a model called through the
 * AI SDK. Each floor is taken next to a sample of the service, with one clock for both ends. Asked over HTTP, and
 * `/echo` is itself the floor of HTTP.
 */
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { activityInfo } from '@temporalio/activity';
import { Client, Connection } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { streamText } from 'ai';
import { listen } from '../demo/listen.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { installRuntime } from '../src/platform/processes/workers/turn-workers.ts';
import { bareInsert } from './bare-insert.ts';
import { eachOf } from './each-of.ts';
import { memoryUse } from './memory-use.ts';
import type { Floor, History } from './floor-client.ts';
import { startFloorStreams } from './floor-streams.ts';
import { answered, isAnswered, startAndAct, waitAndAct } from './floor-workflows.ts';
import { say } from './doubles/model.ts';

const [, , address = '', namespace = '', modelUrl = ''] = process.argv;
const taskQueue = `floor-${randomUUID()}`;
const acting = new Map<string, (at: number) => void>();

installRuntime(createLogger({ level: 'error', human: true }));
const worker = await Worker.create({
  connection: await NativeConnection.connect({ address }),
  namespace,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('floor-workflows.ts', import.meta.url)),
  activities: {
    async act(url?: string) {
      const workflowId = activityInfo().workflowExecution?.workflowId ?? '';
      acting.get(workflowId)?.(performance.now());
      if (url !== undefined)
        await fetch(url, { method: 'POST', body: '{}', headers: { authorization: `Bearer ${workflowId}` } });
    },
  },
});
const client = new Client({ connection: await Connection.connect({ address }), namespace });
const { workflow } = client;
const model = createOpenAICompatible({ name: 'bench', baseURL: modelUrl, fetch: timedFetch })('bench');
let headersAt = 0;
let insert: ReturnType<typeof bareInsert> | undefined;

async function timedFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  headersAt = performance.now();
  return response;
}

/** When the workflow's activity begins. */
function action(workflowId: string): Promise<number> {
  return new Promise((resolve) => acting.set(workflowId, resolve));
}

async function begin(type: typeof startAndAct | typeof waitAndAct): Promise<WorkflowHandle> {
  return workflow.start(type, { taskQueue, workflowId: randomUUID() });
}

/** A workflow that waits, and is in the worker's cache. */
async function beginToWait(url?: string): Promise<WorkflowHandle> {
  const handle = await workflow.start(waitAndAct, {
    taskQueue,
    workflowId: randomUUID(),
    args: [url],
  });
  await handle.query(isAnswered);
  return handle;
}

async function historyOf(type: typeof startAndAct | typeof waitAndAct): Promise<History> {
  const handle = type === waitAndAct ? await beginToWait() : await begin(type);
  if (type === waitAndAct) await handle.signal(answered);
  await handle.result();
  const { historyLength: events, historySize: bytes = 0 } = await handle.describe();
  return { events, bytes };
}

const floor: Floor = {
  ...(await startFloorStreams()),

  async echo() {},

  async write({ database }) {
    insert ??= bareInsert(database);
    await (await insert).run();
  },

  memory: memoryUse,

  async cpu() {
    const { user, system } = process.cpuUsage();
    return { milliseconds: (user + system) / 1000 };
  },

  async start() {
    const workflowId = randomUUID();
    const acted = action(workflowId);
    const startedAt = performance.now();
    const handle = await workflow.start(startAndAct, { taskQueue, workflowId });
    const rpc = performance.now() - startedAt;
    const toActivity = (await acted) - startedAt;
    await handle.result();
    return { rpc, toActivity };
  },

  async answer() {
    const handle = await beginToWait();
    const acted = action(handle.workflowId);
    const answeredAt = performance.now();
    await handle.signal(answered);
    const toActivity = (await acted) - answeredAt;
    await handle.result();
    return { toActivity };
  },

  async waitFor({ url }) {
    return { workflowId: (await beginToWait(url)).workflowId };
  },

  async signal({ workflowId }) {
    await workflow.getHandle(workflowId).signal(answered);
  },

  async callModel() {
    const startedAt = performance.now();
    const { stream } = streamText({ model, prompt: say.talk });
    let firstText = 0;
    for await (const { type } of stream) {
      if (type === 'text-delta') firstText ||= performance.now() - startedAt;
    }
    return { firstByte: headersAt - startedAt, firstText };
  },

  async run({ count, atOnce }) {
    const startedAt = performance.now();
    await eachOf(count, atOnce, async () => {
      await (await begin(startAndAct)).result();
    });
    return { perSecond: count / ((performance.now() - startedAt) / 1000) };
  },

  async burst({ count }) {
    const waiting: WorkflowHandle[] = [];
    await eachOf(count, 10, async () => void waiting.push(await beginToWait()));
    const acted = waiting.map(({ workflowId }) => action(workflowId));
    const before = process.cpuUsage();
    const answeredAt = performance.now();
    const since = () => performance.now() - answeredAt;
    const acknowledgedMs = await Promise.all(
      waiting.map(async (handle) => {
        await handle.signal(answered);
        return since();
      }),
    );
    const actedMs = (await Promise.all(acted)).map((at) => at - answeredAt);
    await Promise.all(waiting.map((handle) => handle.result()));
    const { user, system } = process.cpuUsage(before);
    return { acknowledgedMs, actedMs, cpu: (user + system) / 1000 };
  },

  async histories() {
    return { startAndAct: await historyOf(startAndAct), waitAndAct: await historyOf(waitAndAct) };
  },

  async wait({ count }) {
    const before = (await memoryUse()).resident;
    await eachOf(count, 10, async () => {
      await beginToWait();
    });
    return { bytesEach: ((await memoryUse()).resident - before) / count };
  },
};

const server = createServer((request, response) => {
  void (async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const measure = floor[(request.url ?? '').slice(1) as keyof Floor];
    const result = await measure(JSON.parse(Buffer.concat(chunks).toString()));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result ?? null));
  })().catch((error: unknown) => {
    response.writeHead(500).end(error instanceof Error ? error.stack : String(error));
  });
});
const { port } = await listen(server, 0, 'none');
process.once('disconnect', () => process.exit());
process.send?.({ port });
await worker.run();
