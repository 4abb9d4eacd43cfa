/**
 * What a worker pays for old code: `node bench/version-workers.ts` starts workers for ten versions of the workflow code in one
 * process, one after the other, and prints the memory that each adds and how long it takes until it runs.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { loadConfig } from '../src/platform/config/load-config.ts';
import { startTemporalServer } from '../src/platform/development/temporal-server.ts';
import { createHeldCallLimit } from '../src/activities/call-tool/held-call-limit.ts';
import { openDependencies } from '../src/platform/processes/dependencies.ts';
import { keepCode } from '../src/platform/processes/workers/code-workers.ts';
import { readTurnCode } from '../src/platform/processes/workers/turn-code.ts';
import { installRuntime, startTurnWorkers } from '../src/platform/processes/workers/turn-workers.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { unfinishedCallResult } from '../src/turn/call-result.ts';
import { connectWorker } from '../src/platform/temporal/connection.ts';
import { memoryUse } from './memory-use.ts';

const versions = 10;
const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bench-'));
await using stack = new AsyncDisposableStack();
stack.defer(() => rm(folder, { recursive: true, force: true }));
const logger = createLogger({ level: 'warn', human: true });
installRuntime(logger);
const given = loadConfig(
  { INTERLUDE_DATA: folder, TEMPORAL_TASK_QUEUE: `bench-${randomUUID()}` },
  process.cwd(),
);
const server = await startTemporalServer({ temporal: given.temporal, dataDir: folder, logger });
stack.defer(() => server.stop());
const config = { ...given, temporal: { ...given.temporal, address: server.address } };
const dependencies = await openDependencies(config, logger);
stack.defer(() => dependencies.storage.close());
const connection = await connectWorker(config.temporal);
stack.defer(() => connection.close());
const own = await readTurnCode();
const parts = { ...dependencies, heldCallLimit: createHeldCallLimit(1) };
const workers = await startTurnWorkers(parts, connection, own);
stack.defer(() => workers.stop());

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
let before = (await memoryUse()).resident;
console.log(`its own version: ${mebibytes(before)} MiB`);
for (let version = 1; version <= versions; version++) {
  const id = `old-${version}`;
  const content = `${own.code}\n// ${version}`;
  await keepCode(dependencies, { id, kind: 'turns', needs: own.needs, content });
  // The current version is one that a worker runs.
  await dependencies.storage.versions.use(config.temporal.deployment.name, id);
  await dependencies.storage.turns.prepare(
    {
      tenant: 'bench',
      conversation: id,
      turnId: randomUUID(),
      agent: 'assistant',
      user: null,
      capabilities: { url: true, form: true },
      clientMessageId: id,
      messages: [],
    },
    { onBusy: 'refuse', resultOf: unfinishedCallResult },
    config.temporal.deployment.name,
  );
  const startedAt = performance.now();
  await workers.look();
  const tookMs = Math.round(performance.now() - startedAt);
  const now = (await memoryUse()).resident;
  console.log(
    `${workers.running().length} versions: +${mebibytes(now - before)} MiB, runs after ${tookMs} ms`,
  );
  before = now;
}
