/** Turns whose version has no worker any more. */
import { expect, test } from 'vitest';
import { reasonOfEnd, takeStrandedTurns } from '../../src/processes/stranded-turns.ts';
import { startReconciler } from '../../src/reconciler/reconciler.ts';
import { createTurnRuns } from '../../src/service/turn-runs.ts';
import {
  alice,
  becomeCurrent,
  deploymentName,
  parts,
  service,
  startVersion,
  strandedParts,
  temporal,
  useVersionedWorkers,
  waitingTurn,
} from './versioned-workers.ts';

useVersionedWorkers();

test('a turn whose version is gone goes on with the current one when that can read its history', async () => {
  const old = await startVersion('old', 'today');
  const turn = await waitingTurn();
  await old.disposeAsync();
  await startVersion('new', 'today');
  await becomeCurrent('new');
  const version = { deploymentName, buildId: 'new' };
  await takeStrandedTurns(strandedParts(version, 'today'), { current: version, polling: [] });

  expect((await turn.decline()).status).toBeLessThan(300);
  await turn.stream.finished();
  expect(await turn.handle.result()).toEqual({ status: 'completed' });
});

test('and is ended when it cannot: the conversation is free again', async () => {
  const old = await startVersion('old', 'today');
  const turn = await waitingTurn();
  await old.disposeAsync();
  await startVersion('new', 'changed');
  await becomeCurrent('new');
  const version = { deploymentName, buildId: 'new' };
  await takeStrandedTurns(strandedParts(version, 'changed'), { current: version, polling: [] });

  expect((await turn.handle.describe()).status.name).toBe('TERMINATED');
  await expect(turn.handle.result()).rejects.toMatchObject({ cause: { message: reasonOfEnd } });
  const next = await alice.chat('hello', { conversation: turn.conversation });
  await next.finished();
  expect(next.text()).toBe('You said: hello');
});

/** The service has a reconciler; another one looks at the same turns while `work` goes on. */
async function whileReconciling(work: () => Promise<void>): Promise<void> {
  const reconciler = startReconciler(parts, createTurnRuns(temporal.client));
  await work();
  await reconciler.stop();
}

test.each([
  { reader: 'cannot be read', isOf: 'changed', ends: 'failed', question: 'cancel', errors: 1 },
  { reader: 'can be read', isOf: 'today', ends: 'completed', question: 'decline', errors: 0 },
] as const)(
  'a stranded turn that $reader ends once, as $ends, while lost turns are looked for',
  async ({ isOf, ends, question, errors }) => {
    const old = await startVersion('old', 'today');
    const { conversation, stream, elicitationId, decline } = await waitingTurn();
    await old.disposeAsync();
    await startVersion('new', isOf);
    await becomeCurrent('new');
    const version = { deploymentName, buildId: 'new' };
    await whileReconciling(async () => {
      await takeStrandedTurns(strandedParts(version, isOf), { current: version, polling: [] });
      if (ends === 'completed') await decline();
      await stream.finished();
    });
    const turn = { tenant: 'demo', conversation, turnId: stream.turnId };
    expect(await service.storage.turns.get(turn)).toMatchObject({ status: ends });
    expect(await service.storage.elicitations.get(elicitationId)).toMatchObject({ status: question });
    const events = (await service.storage.turnLog.read(turn, 0)).map(({ event }) => event);
    expect(events.filter(({ type }) => type === 'turn-ended')).toMatchObject([{ status: ends }]);
    expect(events.filter(({ type }) => type === 'error')).toHaveLength(errors);
  },
);
