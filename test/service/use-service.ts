/**
 * The service for the tests of a file or of a `describe`: started before them, stopped after them. It stops before what
 * it needs, and that before the connections to Temporal are closed; also where something of it does not start.
 */
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { DevelopmentServer } from '../development-server.ts';
import { startService } from './service.ts';
import type { Service, ServiceOptions } from './service.ts';
import { useDevelopmentServer } from './use-development-server.ts';
import type { Caller } from './user.ts';

/**
 * Three objects that are the same for all tests, so a file can take them apart at its top. Their fields are there once
 * the tests run: read them inside of tests and hooks.
 */
export interface UsedService {
  temporal: DevelopmentServer;
  service: Service;
  alice: Caller;
}

type StartOptions = Omit<ServiceOptions, 'temporal'>;

export interface UseServiceOptions extends StartOptions {
  /** Whether all tests share one service, or each has its own. Default `'file'`. */
  per?: 'file' | 'test';
  /** Starts what must run before the service, ends it with the stack, and says what that adds to the options. */
  needs?: (stack: AsyncDisposableStack) => Promise<StartOptions>;
  /** What is done with each service before its first test. */
  prepare?: () => Promise<unknown>;
  /** Fills this one, for functions that several `describe`s share, each with a service of its own. */
  into?: UsedService;
}

export function useService(options: UseServiceOptions = {}): UsedService {
  const { per = 'file', needs, prepare, into = {} as UsedService, ...startOptions } = options;
  into.temporal = useDevelopmentServer(into.temporal);
  into.service ??= {} as Service;
  into.alice ??= {} as Caller;
  const { temporal, service, alice } = into;

  const [before, after] = per === 'file' ? [beforeAll, afterAll] : [beforeEach, afterEach];
  let stack = new AsyncDisposableStack();
  before(async () => {
    stack = new AsyncDisposableStack();
    const added = await needs?.(stack);
    const env = { ...startOptions.env, ...added?.env };
    const started = await startService({ ...startOptions, ...added, env, temporal });
    stack.defer(() => started.stop());
    Object.assign(service, started);
    Object.assign(alice, await started.as('alice'));
    await prepare?.();
  });
  after(() => stack.disposeAsync());
  return into;
}
