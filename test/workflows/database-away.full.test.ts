/** A database that is away for longer than a call is tried: the turn waits for it. A clock of its own, which does not. */
import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { turnWorkflowId } from '../../src/workflows/messages.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { createTimeSkipping } from '../time-skipping.ts';

let environment: TestWorkflowEnvironment;
let service: Service;

beforeAll(async () => {
  environment = await createTimeSkipping();
});
afterAll(() => environment.teardown());
afterEach(() => service.stop());

/** Each call is tried five times at once. */
const failures = 12;

/** Fails so many times, as a database does that is away, and then as it always did. */
function away<A extends unknown[], R>(work: (...args: A) => Promise<R>): (...args: A) => Promise<R> {
  let left = failures;
  const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  return (...args) => (left-- > 0 ? Promise.reject(refused()) : work(...args));
}

test.each<[string, (storage: Storage) => Storage]>([
  [
    'when the turn begins',
    (storage) => ({ ...storage, turns: { ...storage.turns, begin: away(storage.turns.begin) } }),
  ],
  [
    'when a tool is called',
    (storage) => ({ ...storage, toolCalls: { ...storage.toolCalls, take: away(storage.toolCalls.take) } }),
  ],
])('a database that is away %s is waited for', async (_, around) => {
  const { client, nativeConnection: connection } = environment;
  service = await startService({ temporal: { client, connection }, around });
  const alice = await service.as('alice');
  const conversation = randomUUID();
  const stream = await alice.chat('list my open issues', { conversation, supports: null });
  const handle = client.workflow.getHandle(turnWorkflowId({ tenant: 'demo', conversation }));
  expect(await handle.result()).toEqual({ status: 'completed' });
  const chunks = await stream.finished();
  const [error] = chunks.flatMap(({ type, errorText }) => (type === 'tool-output-error' ? [errorText] : []));
  expect(error).toContain('nobody was asked');
});
