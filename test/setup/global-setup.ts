/**
 * What is costly and shared by test files: the workflow bundle, a Temporal and a PostgreSQL server. Test files run in
 * other processes, so they request it over HTTP; each is started at the first request.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Connection } from '@temporalio/client';
import type { TestProject } from 'vitest/node';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { readTurnCode } from '../../src/platform/processes/workers/turn-code.ts';
import { createLogger } from '../../src/platform/telemetry/logger.ts';
import { joinWithSdk } from '../../src/platform/temporal/join-sdk.ts';
import { requireNamespace } from '../../src/platform/temporal/namespace.ts';
import { freePort } from '../free-port.ts';
import { startPostgres } from './postgres-server.ts';
import { openRunFolder } from './run-folder.ts';

async function buildWorkflowBundle(): Promise<AsyncDisposable & { codePath: string }> {
  const { code } = await joinWithSdk(await readTurnCode());
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bundle-'));
  const codePath = path.join(folder, 'workflows.js');
  await writeFile(codePath, code);
  return { codePath, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** The embedded Temporal, as `npm start` starts it, on a folder of its own. */
async function startSharedTemporal(): Promise<AsyncDisposable & { address: string }> {
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

declare module 'vitest' {
  interface ProvidedContext {
    sharedUrl: string;
    /** The suite that runs, for tests that have variants. */
    suite: 'daily' | 'full' | 'release';
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const stack = new AsyncDisposableStack();
  stack.use(await openRunFolder());
  const once = <T>(make: () => Promise<T>) => {
    let made: Promise<T> | undefined;
    return () => (made ??= make());
  };
  const postgres = once(async () => stack.use(await startPostgres(process.env['DATABASE_URL'])));
  const bundle = once(async () => stack.use(await buildWorkflowBundle()));
  const temporal = once(async () => stack.use(await startSharedTemporal()));
  const routes: Record<string, () => Promise<string>> = {
    '/database': async () => (await postgres()).createDatabase(),
    '/temporal': async () => (await temporal()).address,
    '/workflow-bundle': async () => (await bundle()).codePath,
  };

  const server = createServer((request, response) => {
    const route = routes[request.url ?? ''];
    if (!route) return void response.writeHead(404).end();
    route().then(
      (text) => response.end(text),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('sharedUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  stack.defer(() => server.closeAllConnections());
  stack.defer(() => void server.close());
  return () => stack.disposeAsync();
}
