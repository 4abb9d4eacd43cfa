/** What every measurement gets: the service and the floor, side by side, and somebody to be. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { startFloor } from './floor-client.ts';
import type { Floor } from './floor-client.ts';
import { startService } from './service.ts';
import type { Service, Dependencies } from './service.ts';
import { createUser } from './user.ts';
import type { User } from './user.ts';

export interface BenchSetup extends AsyncDisposable {
  service: Service;
  floor: Floor;
  dependencies: Dependencies;
  client: Client;
  /** How often each thing is measured. */
  samples: number;
  /** A user whom the service has never seen. */
  newUser(): Promise<User>;
}

export async function setUp(
  dependencies: Dependencies,
  client: Client,
  samples: number,
): Promise<BenchSetup> {
  const stack = new AsyncDisposableStack();
  const service = stack.use(await startService(dependencies, client));
  const floor = stack.use(
    await startFloor({ ...dependencies.temporal, modelUrl: dependencies.model.baseURL }),
  );
  let users = 0;
  return {
    service,
    floor,
    dependencies,
    client,
    samples,
    async newUser() {
      const name = randomUUID();
      // As behind a load balancer that keeps each user with one API.
      const baseUrl = service.baseUrls[users++ % service.baseUrls.length] ?? service.baseUrl;
      return createUser(baseUrl, name, await dependencies.issuer.token(name));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Long enough for what the last sample left behind to be over. */
export const breath = () => sleep(60);

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
