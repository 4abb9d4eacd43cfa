/** A Temporal whose clock is everybody's: the embedded server, as `npm start` starts it, for the length of a test file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { createLogger } from '../src/logger.ts';
import { freePort } from './free-port.ts';
import { registerSearchAttributes } from '../src/search-attributes.ts';
import { startTemporalServer } from '../src/temporal-server.ts';
import { installQuietRuntime } from './quiet-runtime.ts';

export interface DevelopmentServer {
  client: Client;
  connection: NativeConnection;
  address: string;
  stop(): Promise<void>;
}

export async function startDevelopmentServer(): Promise<DevelopmentServer> {
  installQuietRuntime();
  const stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-temporal-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const namespace = 'default';
  const server = await startTemporalServer({
    temporal: { namespace, port: await freePort(), uiPort: await freePort() },
    dataDir,
    logger: createLogger({ level: 'silent', human: true }),
  });
  stack.defer(() => server.stop());
  const connection = await NativeConnection.connect({ address: server.address });
  stack.defer(() => connection.close());
  const clientConnection = await Connection.connect({ address: server.address });
  stack.defer(() => clientConnection.close());
  await registerSearchAttributes(clientConnection, namespace);
  return {
    client: new Client({ connection: clientConnection, namespace }),
    connection,
    address: server.address,
    stop: () => stack.disposeAsync(),
  };
}
