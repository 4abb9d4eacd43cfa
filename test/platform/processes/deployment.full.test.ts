/** Changed code is deployed, and rolled back, while turns wait for people. */
import { expect, test } from 'vitest';
import {
  deploymentName,
  parts,
  service,
  startVersion,
  useVersionedWorkers,
  waitingTurn,
} from './versioned-workers.ts';

useVersionedWorkers();

async function readiness(): Promise<{ status: number; warnings: Record<string, string> }> {
  const response = await fetch(`${service.baseUrl}/readyz`);
  const { warnings } = (await response.json()) as { warnings: { name: string; detail: string }[] };
  return {
    status: response.status,
    warnings: Object.fromEntries(warnings.map(({ name, detail }) => [name, detail])),
  };
}

test('before a worker polls, readiness warns of it; the first version becomes current by itself', async () => {
  expect(await readiness()).toEqual({
    status: 200,
    warnings: {
      workers: `no worker polls task queue "${deploymentName}"; start one (interlude worker)`,
    },
  });
  await startVersion('one', 'today');
  await expect.poll(readiness).toEqual({ status: 200, warnings: {} });
});

async function finish(turn: Awaited<ReturnType<typeof waitingTurn>>): Promise<void> {
  expect(await turn.decline()).toMatchObject({ status: 200 });
  await turn.stream.finished();
  expect(await turn.handle.result()).toEqual({ status: 'completed' });
}

test('before the first worker no turn starts, and the answer says so; its version becomes current by itself', async () => {
  const chat = {
    id: 'first',
    messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }],
  };
  const post = async () =>
    fetch(`${service.baseUrl}/run/api/chat`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await service.token('alice')}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(chat),
    });
  const refused = await post();
  expect(refused.status).toBe(503);
  expect(await refused.text()).toContain('No worker of this deployment has started yet');
  await startVersion('one', 'today');
  expect((await post()).status).toBe(200);
});

test('the image is replaced while turns wait: they go on with the code that they started with', async () => {
  const old = await startVersion('old', 'today');
  const before = await waitingTurn();
  await old.disposeAsync();
  await startVersion('new', 'changed');
  const after = await waitingTurn();
  expect(await Promise.all([before, after].map((turn) => turn.isChanged()))).toEqual([false, true]);
  await finish(before);
  await finish(after);
});

test('a rollback is a command, which a restart of the newer release does not undo', async () => {
  const old = await startVersion('old', 'today');
  // Two workers of one process cannot run the same version, as those of two processes can.
  await old.disposeAsync();
  const newer = await startVersion('new', 'changed');
  const ofNewer = await waitingTurn();
  await parts.storage.versions.use(deploymentName, 'old');
  const ofOlder = await waitingTurn();
  await newer.disposeAsync();
  await startVersion('new', 'changed');
  const afterRestart = await waitingTurn();
  const turns = [ofNewer, ofOlder, afterRestart];
  expect(await Promise.all(turns.map((turn) => turn.isChanged()))).toEqual([true, false, false]);
  for (const turn of turns) await finish(turn);
});

test('a worker that replaces one of the same version in its process waits until that has stopped', async () => {
  const before = await startVersion('one', 'today');
  const turn = await waitingTurn();
  const replacing = startVersion('one', 'today');
  await before.disposeAsync();
  await replacing;
  await finish(turn);
});
