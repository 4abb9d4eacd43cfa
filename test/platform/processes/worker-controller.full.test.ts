/** Under Temporal's Worker Controller each process runs one version, and Temporal routes turns. */
import { expect, test } from 'vitest';
import { routedByTemporal } from '../../../src/storage/tables/versions.ts';
import {
  deploymentName,
  parts,
  startVersion,
  temporal,
  useVersionedWorkers,
  waitingTurn,
} from './versioned-workers.ts';

useVersionedWorkers({ env: () => ({ TEMPORAL_WORKER_BUILD_ID: 'controlled' }) });

/** As the controller does it. */
async function route(buildId: string): Promise<void> {
  const { connection } = temporal.client;
  const request = { namespace: 'default', deploymentName, buildId, identity: 'controller' };
  await expect
    .poll(
      () =>
        connection.workflowService.setWorkerDeploymentCurrentVersion(request).then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
}

test('new turns go to the version that Temporal has as current, and waiting ones stay with theirs', async () => {
  await startVersion('one', 'today', routedByTemporal);
  await route('one');
  const before = await waitingTurn();
  await startVersion('two', 'changed', routedByTemporal);
  await route('two');
  const after = await waitingTurn();
  expect(await Promise.all([before, after].map((turn) => turn.isChanged()))).toEqual([false, true]);
  expect(await parts.storage.versions.current(deploymentName)).toBe(routedByTemporal);
  for (const turn of [before, after]) {
    expect(await turn.decline()).toMatchObject({ status: 200 });
    await turn.stream.finished();
  }
});

test('a process loads no code of other versions: turns of one wait for a process of it', async () => {
  const old = await startVersion('one', 'today', routedByTemporal);
  await route('one');
  const turn = await waitingTurn();
  await old.disposeAsync();
  await startVersion('two', 'changed', routedByTemporal);
  await route('two');
  const declined = await turn.decline();
  const other = await waitingTurn();
  await other.decline();
  await other.stream.finished();
  expect((await turn.handle.describe()).status.name).toBe('RUNNING');
  await startVersion('one', 'today', routedByTemporal);
  await turn.stream.finished();
  expect(declined.status).toBe(200);
  expect(await turn.handle.result()).toEqual({ status: 'completed' });
});
