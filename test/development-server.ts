/**
 * A Temporal in real time. One server serves the whole run: each service has its own task queue, and conversations have
 * random ids. A test that stops the server or changes its settings starts its own.
 */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { installQuietRuntime } from './quiet-runtime.ts';
import { fromGlobalSetup } from './setup/shared.ts';

export interface DevelopmentServer {
  client: Client;
  connection: NativeConnection;
  address: string;
  /** Closes the connections; the server goes on until the run is over. */
  stop(): Promise<void>;
}

export async function startDevelopmentServer(): Promise<DevelopmentServer> {
  installQuietRuntime();
  const stack = new AsyncDisposableStack();
  const address = await fromGlobalSetup('/temporal');
  const connection = await NativeConnection.connect({ address });
  stack.defer(() => connection.close());
  const clientConnection = await Connection.connect({ address });
  stack.defer(() => clientConnection.close());
  return {
    client: new Client({ connection: clientConnection, namespace: 'default' }),
    connection,
    address,
    stop: () => stack.disposeAsync(),
  };
}
