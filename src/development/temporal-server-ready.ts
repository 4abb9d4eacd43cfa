/** Waits for the embedded Temporal to accept work. */
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

const timeoutMs = 60_000;

/** Its message is for people, and no stack is needed. */
export class TemporalNotStarted extends Error {
  override name = 'TemporalNotStarted';
}

/** Resolves when the namespace can be used, rejects with the server's last output when it ends before. */
export async function waitUntilReady(
  server: ChildProcess,
  { address, namespace }: { address: string; namespace: string },
): Promise<void> {
  let output = '';
  const listen = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2000));
  server.stdout?.on('data', listen);
  server.stderr?.on('data', listen);
  let failure: string | undefined;
  server.once('error', (error) => (failure = error.message));
  server.once('exit', (code, signal) => (failure ??= `it ended with ${code ?? signal}`));

  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(25)) {
    if (failure !== undefined)
      throw new TemporalNotStarted(
        `Temporal's development server did not start: ${failure}\n${output.trim()}`,
      );
    // A bare connection first: gRPC waits a whole second after its first failed one.
    if ((await acceptsConnections(address)) && (await hasNamespace(address, namespace))) return;
  }
  server.kill('SIGKILL');
  throw new TemporalNotStarted(
    `Temporal's development server was not ready after ${timeoutMs / 1000} s\n${output.trim()}`,
  );
}

function acceptsConnections(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function hasNamespace(address: string, namespace: string): Promise<boolean> {
  // Without the SDK's retries: one that is due after the connection is closed throws in a timer.
  const connection = Connection.lazy({ address, interceptors: [] });
  try {
    await connection.withDeadline(Date.now() + 5_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
