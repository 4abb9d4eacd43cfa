/** Changed code is deployed while turns wait for people. */
import { expect, test } from 'vitest';
import { takeStrandedTurns } from '../../src/processes/stranded-turns.ts';
import {
  becomeCurrent,
  deploymentName,
  service,
  startVersion,
  strandedParts,
  useVersionedWorkers,
  waitingTurn,
} from './versioned-workers.ts';

useVersionedWorkers();

async function readiness(): Promise<{ status: number; lacks: Record<string, string> }> {
  const response = await fetch(`${service.baseUrl}/readyz`);
  const { notReady = [] } = (await response.json()) as { notReady?: { name: string; detail: string }[] };
  return {
    status: response.status,
    lacks: Object.fromEntries(notReady.map(({ name, detail }) => [name, detail])),
  };
}

test('not ready before a worker polls; the first version becomes current by itself', async () => {
  expect(await readiness()).toEqual({
    status: 503,
    lacks: {
      workers: `no worker polls task queue "${deploymentName}"; start one (interlude worker)`,
    },
  });
  await startVersion('one', 'today');
  await expect.poll(readiness).toEqual({ status: 200, lacks: {} });
});

test('changed code is deployed while turns wait: old turns go on with the old code, new ones begin with the new', async () => {
  await startVersion('old', 'today');
  const before = await waitingTurn();
  await startVersion('new', 'changed');
  const between = await waitingTurn();
  await becomeCurrent('new');
  const after = await waitingTurn();
  await takeStrandedTurns(strandedParts({ deploymentName, buildId: 'new' }, 'changed'));

  expect(await Promise.all([before, between, after].map((turn) => turn.isChanged()))).toEqual([
    false,
    false,
    true,
  ]);
  for (const turn of [before, between, after]) {
    expect(await turn.decline()).toMatchObject({ status: 200 });
    await turn.stream.finished();
    expect(await turn.handle.result()).toEqual({ status: 'completed' });
  }
});
