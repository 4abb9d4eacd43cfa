import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import { createLogger } from '../../src/telemetry/logger.ts';
import { requireNamespace } from '../../src/temporal/namespace.ts';
import { startTemporalServer } from '../../src/development/temporal-server.ts';
import { freePort } from '../free-port.ts';

/** The embedded Temporal, as `npm start` starts it, on a folder of its own. */
export async function startSharedTemporal(): Promise<AsyncDisposable & { address: string }> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-temporal-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const namespace = 'default';
  const { address, stop } = await startTemporalServer({
    temporal: { namespace, port: await freePort(), uiPort: await freePort() },
    dataDir,
    logger: createLogger({ level: 'silent', human: true }),
  });
  stack.defer(stop);
  const connection = await Connection.connect({ address });
  await requireNamespace(connection, namespace);
  await connection.close();
  const started = stack.move();
  return { address, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
