/** The service for the tests of a file or of a `describe`: started before them, stopped after them. */
import { afterAll, beforeAll } from 'vitest';
import { startDevelopmentServer } from '../development-server.ts';
import type { DevelopmentServer } from '../development-server.ts';
import { startService } from './service.ts';
import type { Service, ServiceOptions } from './service.ts';
import type { Caller } from './user.ts';

/** Filled in before the tests run, so take its fields inside of them. */
export interface UsedService {
  temporal: DevelopmentServer;
  service: Service;
  alice: Caller;
}

interface Options extends Omit<ServiceOptions, 'temporal'> {
  /** What is done once, before the first test. */
  prepare?: () => Promise<unknown>;
  /** Fills this one, for functions that several `describe`s share, each with a service of its own. */
  into?: UsedService;
}

export function useService(options: Options = {}): UsedService {
  const { prepare, into: used = {} as UsedService, ...serviceOptions } = options;
  const stack = new AsyncDisposableStack();
  beforeAll(async () => {
    used.temporal = await startDevelopmentServer();
    const { temporal } = used;
    stack.defer(() => temporal.stop());
    used.service = await startService({ ...serviceOptions, temporal });
    const { service } = used;
    stack.defer(() => service.stop());
    used.alice = await service.as('alice');
    await prepare?.();
  });
  afterAll(() => stack.disposeAsync());
  return used;
}
