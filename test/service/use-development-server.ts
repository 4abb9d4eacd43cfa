/** Temporal for the tests of a file or of a `describe`: connected before them, left after them. */
import { afterAll, beforeAll } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';

/** Its fields are there once the tests run: read them inside of tests and hooks. */
export function useDevelopmentServer(into = {} as DevelopmentServer): DevelopmentServer {
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    const temporal = await startDevelopmentServer();
    stack.defer(() => temporal.stop());
    Object.assign(into, temporal);
  });
  afterAll(() => stack.disposeAsync());
  return into;
}
