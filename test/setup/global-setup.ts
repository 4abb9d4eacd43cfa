/**
 * What is costly and shared by test files: the workflow bundle, a Temporal and a PostgreSQL server. Test files run in
 * other processes, so they request it over HTTP; each is started at the first request.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { buildWorkflowBundle } from './bundle.ts';
import { startPostgres } from './postgres-server.ts';
import { openRunFolder } from './run-folder.ts';
import { startSharedTemporal } from './temporal-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    sharedUrl: string;
    /** The suite that runs, for `*.both.test.ts`. */
    suite: 'daily' | 'full';
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
