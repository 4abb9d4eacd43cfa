/** What operators read about Temporal's answers. The answers are real ones, of server 1.29. */
import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { createTemporalReadiness } from '../../src/service/temporal-calls.ts';

const deployment = { name: 'interlude', buildId: undefined };
const temporal = { namespace: 'default', taskQueue: 'interlude', deployment };
const version = (buildId: string) => ({ deploymentName: 'interlude', buildId });

interface Poller {
  buildId?: string;
  secondsAgo?: number;
}

function lackOf(current: string | null, pollers: Poller[]): Promise<string | null> {
  const described = {
    pollers: pollers.map(({ buildId, secondsAgo = 3 }) => ({
      lastAccessTime: { seconds: Math.floor(Date.now() / 1000) - secondsAgo },
      deploymentOptions: buildId === undefined ? null : { ...version(buildId), workerVersioningMode: 2 },
    })),
  };
  const connection = { workflowService: { describeTaskQueue: async () => described } };
  const storage = { versions: { current: async () => current }, now: Date.now };
  return createTemporalReadiness({ connection } as unknown as Client, temporal, storage).workers();
}

test.each<[what: string, current: string | null, pollers: Poller[], told: RegExp]>([
  ['workers of the current version', 'new', [{ buildId: 'old' }, { buildId: 'new' }], /^nothing$/],
  ['workers, where the routing of Temporal decides', '', [{ buildId: 'one' }], /^nothing$/],
  ['no worker', 'new', [], /^no worker polls task queue "interlude"; start one/],
  ['a worker, a while ago', 'new', [{ buildId: 'new', secondsAgo: 120 }], /^no worker polls/],
  [
    'workers of another version',
    'old',
    [{ buildId: 'new' }],
    /^new turns start with version old, which no worker polls for/,
  ],
  ['workers without a version beside a current one', 'old', [{}], /^new turns start with version old/],
  [
    'workers with a version, and none is current',
    null,
    [{ buildId: 'new' }],
    /^no version .* is current yet/,
  ],
])('%s', async (_, current, pollers, told) => {
  expect((await lackOf(current, pollers)) ?? 'nothing').toMatch(told);
});

test('while Temporal does not answer, nothing is said about workers', async () => {
  const connection = { workflowService: { describeTaskQueue: () => Promise.reject(new Error('away')) } };
  const storage = { versions: { current: async () => 'new' }, now: Date.now };
  expect(
    await createTemporalReadiness({ connection } as unknown as Client, temporal, storage).workers(),
  ).toBeNull();
});
