/** A process that is API and worker: the first task of a turn comes with the answer to its start, when only its version runs there. */
import { expect, test } from 'vitest';
import { startVersion, useVersionedWorkers, waitingTurn } from './versioned-workers.ts';

let startsHere: (buildId: string) => boolean;
useVersionedWorkers({ startsHere: (buildId) => startsHere(buildId) });

type Turn = Awaited<ReturnType<typeof waitingTurn>>;

/** A task that a worker polls for names its version when it starts; an eager task has started before, with the workflow. */
async function wasEager({ handle }: Turn): Promise<boolean> {
  const { events = [] } = await handle.fetchHistory();
  const started = events?.[2]?.workflowTaskStartedEventAttributes;
  return !started?.workerVersion;
}

async function finish(turn: Turn): Promise<void> {
  expect(await turn.decline()).toMatchObject({ status: 200 });
  expect(await turn.handle.result()).toEqual({ status: 'completed' });
}

test('a turn starts eagerly while its version runs here alone, and not beside a version that others wait with', async () => {
  const old = await startVersion('old', 'today');
  ({ startsHere } = old);
  expect(startsHere('another')).toBe(false);
  const before = await waitingTurn();
  expect(await wasEager(before)).toBe(true);
  await old.disposeAsync();

  const newer = await startVersion('new', 'changed');
  ({ startsHere } = newer);
  // The worker of the old version is started by the first look.
  await expect.poll(() => startsHere('new')).toBe(false);
  const beside = await waitingTurn();
  expect(await Promise.all([beside.isChanged(), wasEager(beside)])).toEqual([true, false]);
  await finish(before);
  await finish(beside);
});
