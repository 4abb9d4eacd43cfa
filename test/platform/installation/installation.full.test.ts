/** Two processes of an installation, its database and its mark at Temporal: when they belong together, and when not. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@temporalio/activity';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { TemporalConfig } from '../../../src/platform/config/config.ts';
import { openInstallation, watchInstallation } from '../../../src/platform/installation/installation.ts';
import type { Intervals, OpenedInstallation } from '../../../src/platform/installation/installation.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { TurnRef } from '../../../src/turn/turn.ts';
import { agentTurnWorkflow, turnWorkflowId } from '../../../src/workflows/messages.ts';
import { copyDatabase } from '../../copy-database.ts';
import { postgresUrl } from '../../postgres.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';
import { begunTurn, newTurn, refuseWhileBusy } from '../../storage/contract/fixtures.ts';

const temporal = useDevelopmentServer();
const silent = pino({ level: 'silent' });
const quick: Intervals = { advanceMs: 1, togetherMs: 5, otherwiseMs: 5 };

let stack: AsyncDisposableStack;
beforeEach(() => (stack = new AsyncDisposableStack()));
afterEach(() => stack.disposeAsync());

interface Place {
  url: string;
  taskQueue: string;
  address: string;
}

async function newPlace(): Promise<Place> {
  return { url: await postgresUrl(), taskQueue: randomUUID(), address: temporal.address };
}

/** What one process opens. */
async function open(place: Place, logger = silent) {
  const { url, taskQueue, address } = place;
  const storage = await openStorage({ kind: 'postgres', url });
  stack.defer(() => storage.close());
  const config = {
    temporal: { address, taskQueue, namespace: 'default', tls: false } as TemporalConfig,
  };
  return { storage, config, logger };
}

async function installationOf(place: Place): Promise<OpenedInstallation & { storage: Storage }> {
  const parts = await open(place);
  const installation = openInstallation(parts);
  stack.defer(() => installation.close());
  return { ...installation, storage: parts.storage };
}

/** The next generations, as leaseholders write them. */
async function advance(installation: OpenedInstallation, times: number): Promise<void> {
  const before = (await installation.table.read())?.generation ?? 0;
  for (let count = 0; count < times; count++) {
    await vi.waitFor(async () => {
      await installation.advance(0);
      expect((await installation.table.read())?.generation).toBe(before + count + 1);
    }, 20_000);
  }
}

/** A turn whose workflow runs, with a worker or without. */
async function liveTurn(storage: Storage, { taskQueue }: Place) {
  const turn = await begunTurn(storage);
  const handle = await temporal.client.workflow.start(agentTurnWorkflow, {
    workflowId: turnWorkflowId(turn),
    taskQueue,
    memo: { turnId: turn.turnId },
  });
  stack.defer(() =>
    handle.terminate().then(
      () => undefined,
      () => undefined,
    ),
  );
  return { turn };
}

const together = { kind: 'together' };
const apart = (reason: string) => ({ kind: 'apart', reason });

describe('at the first start', () => {
  test('two processes at once give a new database and a new namespace one mark', async () => {
    const place = await newPlace();
    const both = [await installationOf(place), await installationOf(place)];
    expect(await Promise.all(both.map((one) => one.lookSafely()))).toEqual([together, together]);
    const [row, found] = [await both[0]?.table.read(), await both[1]?.marks.read()];
    // One of them may have proposed the token of the next generation already.
    expect(row).toMatchObject({ generation: 1 });
    expect(found?.mark).toEqual({ installation: row?.id, generation: 1, token: row?.token });
  });

  test('deployments with task queues of their own share a namespace', async () => {
    for (const place of [await newPlace(), await newPlace()])
      expect(await (await installationOf(place)).lookSafely()).toEqual(together);
  });

  test('a new database does not take a mark that is another’s', async () => {
    const place = await newPlace();
    expect(await (await installationOf(place)).lookSafely()).toEqual(together);
    const other = await installationOf({ ...place, url: await postgresUrl() });
    expect(await other.lookSafely()).toEqual(apart('other-installation'));
    expect(await other.table.read()).toBeNull();
  });

  test('a database of an earlier release is marked where Temporal knows its turns, or none goes on', async () => {
    const place = await newPlace();
    const installation = await installationOf(place);
    await installation.storage.turns.end(await begunTurn(installation.storage), 'completed');
    const fresh = { ...place, taskQueue: randomUUID() };
    expect(await (await installationOf(fresh)).examine()).toMatchObject({ belonging: together });
    await liveTurn(installation.storage, place);
    await begunTurn(installation.storage);
    expect(await installation.lookSafely()).toEqual(together);
  });

  test('a copy of one, whose turns Temporal does not know, is not', async () => {
    const installation = await installationOf(await newPlace());
    await begunTurn(installation.storage);
    expect(await installation.lookSafely()).toEqual(apart('no-mark'));
    expect(await installation.marks.read()).toBeNull();
  });
});

describe('generations', () => {
  test('are written by one process at a time, while all of them find that both sides belong together', async () => {
    const place = await newPlace();
    const parted: string[] = [];
    const parts = [await open(place), await open(place), await open(place)];
    const watches = await Promise.all(
      parts.map((each) => watchInstallation(each, { intervals: quick, onParted: (why) => parted.push(why) })),
    );
    const reached = async () => (await parts[0]?.storage.installation.read())?.generation;
    await vi.waitFor(async () => expect(await reached()).toBeGreaterThan(15));
    for (const watch of watches) expect(watch.lack()).toBeNull();
    await Promise.all(watches.map((watch) => watch.close()));
    expect(parted).toEqual([]);
    const rest = await installationOf(place);
    expect(await rest.lookSafely()).toEqual(together);
    const row = await rest.table.read();
    expect((await rest.marks.read())?.mark).toEqual({
      installation: row?.id,
      generation: row?.generation,
      token: row?.token,
    });
  });

  test('a process that dies between the two writes leaves a gap of one, which another one closes', async () => {
    const place = await newPlace();
    const dying = await installationOf(place);
    await dying.lookSafely();
    const row = await dying.table.read();
    const found = await dying.marks.read();
    if (!row || !found) throw new Error('both are there');
    const token = (await dying.table.intend(row.generation)) ?? '';
    await dying.marks.replace(found, { installation: row.id, generation: 2, token });
    const other = await installationOf(place);
    expect(await other.lookSafely()).toEqual(together);
    expect(await other.table.read()).toMatchObject({ generation: 2, token, nextToken: null });
    await advance(other, 1);
    expect(await dying.lookSafely()).toEqual(together);
  });

  test('a mark that was written meanwhile is not written over', async () => {
    const installation = await installationOf(await newPlace());
    await installation.lookSafely();
    const stale = await installation.marks.read();
    if (!stale) throw new Error('it is there');
    await advance(installation, 1);
    await installation.marks.replace(stale, { ...stale.mark, token: 'stale' });
    expect((await installation.marks.read())?.mark.generation).toBe(2);
    expect(await installation.lookSafely()).toEqual(together);
  });
});

describe('after a restore', () => {
  test('a database of an earlier hour is older than Temporal', async () => {
    const place = await newPlace();
    const backup = await postgresUrl();
    await (await openStorage({ kind: 'postgres', url: backup })).close();
    const installation = await installationOf(place);
    await installation.lookSafely();
    await copyDatabase(place.url, backup);
    await advance(installation, 2);
    const restored = await installationOf({ ...place, url: backup });
    expect(await restored.lookSafely()).toEqual(apart('database-older'));
    expect(await installation.lookSafely()).toEqual(together);
  });

  test('two databases that both go on from one backup do not take turns: the second one stops', async () => {
    const place = await newPlace();
    const backup = await postgresUrl();
    await (await openStorage({ kind: 'postgres', url: backup })).close();
    const installation = await installationOf(place);
    await installation.lookSafely();
    await copyDatabase(place.url, backup);
    const copy = await installationOf({ ...place, url: backup });
    expect(await copy.lookSafely()).toEqual(together);
    await advance(installation, 1);
    expect(await copy.lookSafely()).toEqual(apart('database-older'));
    await copy.advance(0);
    expect(await installation.lookSafely()).toEqual(together);
  });

  test('a Temporal of an earlier hour is older than the database', async () => {
    const installation = await installationOf(await newPlace());
    await installation.lookSafely();
    const early = await installation.marks.read();
    await advance(installation, 1);
    const late = await installation.marks.read();
    if (!early || !late) throw new Error('both were there');
    await installation.marks.replace(late, early.mark);
    expect(await installation.lookSafely()).toEqual(apart('temporal-older'));
  });

  test('a mark that was deleted is written again where Temporal knows a turn, and nowhere else', async () => {
    const place = await newPlace();
    const installation = await installationOf(place);
    await installation.lookSafely();
    const remove = () =>
      temporal.client.workflowService.deleteSchedule({
        namespace: 'default',
        scheduleId: installation.marks.scheduleId,
      });
    const rowOf = async (turn: TurnRef) => {
      const row = await installation.storage.turns.get(turn);
      if (!row) throw new Error('it is there');
      return row;
    };
    const { turn } = await liveTurn(installation.storage, place);
    await remove();
    await vi.waitFor(async () => expect(await installation.marks.read()).toBeNull());
    expect(await installation.lookSafely()).toEqual(together);
    expect(await installation.table.read()).toMatchObject({ generation: 2 });

    await temporal.client.workflowService.deleteWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: turnWorkflowId(turn) },
    });
    await vi.waitFor(async () => expect(await installation.knows(await rowOf(turn))).toBe(false));
    await remove();
    await vi.waitFor(async () => expect(await installation.lookSafely()).toEqual(apart('no-mark')));
  });
});

describe('a running process', () => {
  test('notices when they come apart, and sends nothing from then on', async () => {
    const place = await newPlace();
    const line = await startTcpProxy({ to: Number(place.address.split(':').at(-1)) });
    stack.defer(() => line.stop());
    const parts = await open({ ...place, address: `127.0.0.1:${line.port}` });
    const parted = Promise.withResolvers<string>();
    const watch = await watchInstallation(parts, { intervals: quick, onParted: parted.resolve });
    stack.defer(() => watch.close());
    await watch.untilTogether();
    const { row } = await watch.opened.examine();
    await vi.waitFor(async () => expect((await watch.opened.examine()).row?.generation).toBeGreaterThan(3));
    await parts.storage.installation.replace({
      id: row?.id ?? '',
      generation: row?.generation ?? 0,
      token: row?.token ?? '',
    });
    expect(await parted.promise).toMatch(/the database is older than Temporal.*interlude installation adopt/);
    expect(watch.lack()).toBe(await parted.promise);
    let isSent = false;
    const sent = watch.guard.signal?.(
      { signalName: 'any', args: [], workflowExecution: { workflowId: 'any' }, headers: {} },
      async () => void (isSent = true),
    );
    await expect(sent).rejects.toThrow('Nothing is sent to Temporal');
    expect(isSent).toBe(false);

    line.refuse();
    line.cut();
    const before = line.connections.length;
    await vi.waitFor(async () => expect((await watch.opened.lookSafely()).kind).toBe('unknown'));
    expect(watch.lack()).toBe(await parted.promise);
    expect(line.connections).toHaveLength(before);
  });

  test('takes a Temporal that cannot be reached, at its start or later, for neither', async () => {
    const place = await newPlace();
    const line = await startTcpProxy({ to: Number(place.address.split(':').at(-1)) });
    stack.defer(() => line.stop());
    line.refuse();
    const parted: string[] = [];
    const parts = await open({ ...place, address: `127.0.0.1:${line.port}` });
    const watch = await watchInstallation(parts, { intervals: quick, onParted: (why) => parted.push(why) });
    stack.defer(() => watch.close());
    const isHeld = () => expect([watch.isTogether(), watch.lack()]).toEqual([false, null]);
    isHeld();
    line.accept();
    await watch.untilTogether();
    line.refuse();
    line.cut();
    await vi.waitFor(isHeld, 10_000);
    line.accept();
    await watch.untilTogether();
    expect(parted).toEqual([]);
  });

  test('refuses no activity when Temporal is back after a while', async () => {
    const place = await newPlace();
    const line = await startTcpProxy({ to: Number(place.address.split(':').at(-1)) });
    stack.defer(() => line.stop());
    const parts = await open({ ...place, address: `127.0.0.1:${line.port}` });
    const watch = await watchInstallation(parts, { intervals: quick });
    stack.defer(() => watch.close());
    await watch.untilTogether();
    line.refuse();
    line.cut();
    await sleep(18_000);
    expect(watch.isTogether()).toBe(false);
    line.accept();
    const { inbound } = watch.activityGuard({} as Context);
    const started = inbound?.execute?.({ args: [], headers: {} }, async () => 'started');
    expect(await started).toBe('started');
  });
});

test('a turn that was only prepared says nothing about where it belongs', async () => {
  const installation = await installationOf(await newPlace());
  await installation.storage.turns.prepare(newTurn(), refuseWhileBusy);
  expect(await installation.lookSafely()).toEqual(together);
});
