/**
 * Temporal goes away while a server of the old era waits for an answer, and stays away for longer than the server's timeout
 * and than the heartbeat timeout of the call's activity.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import type { Worker } from '@temporalio/worker';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createHeldCallLimit } from '../../src/activities/call-tool/held-call-limit.ts';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import type { TemporalServer } from '../../src/platform/development/temporal-server.ts';
import type { Dependencies } from '../../src/platform/processes/dependencies.ts';
import { createTurnWorker } from '../../src/platform/processes/workers/turn-workers.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { maximumAttempts } from '../../src/workflows/failures.ts';
import { prepareNamespace } from '../../src/platform/temporal/namespace.ts';
import { freePort } from '../free-port.ts';
import { installQuietRuntime } from '../quiet-runtime.ts';
import { startBookingServer } from '../servers/booking-server.ts';
import type { BookingServer, Kind } from '../servers/booking-server.ts';
import { callOf, nthQuestion, questionsIn, respond, startAsking } from '../service/asking.ts';
import type { Caller } from '../service/user.ts';
import { workflowBundle } from '../workflow-bundle.ts';
import { idOf } from '../workflows/waiting.ts';

/** Longer than the 12 s without a heartbeat after which Temporal starts another attempt. */
const awayMs = 20_000;

let stack: AsyncDisposableStack;
let temporal: TemporalServer;
let startTemporal: () => Promise<TemporalServer>;
let client: Client;
let server: BookingServer;
let alice: Caller;
/** As in two processes. */
let workers: Worker[];
/** Called when the question is stored, before the workflow hears of it. */
let onStored: () => Promise<void>;

afterEach(() => stack.disposeAsync());

async function start(kind: Kind): Promise<void> {
  installQuietRuntime();
  stack = new AsyncDisposableStack();
  onStored = () => Promise.resolve();
  const port = await freePort();
  const uiPort = await freePort();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'interlude-temporal-'));
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }));
  startTemporal = () =>
    startTemporalServer({
      temporal: { namespace: 'default', port, uiPort },
      dataDir,
      logger: pino({ level: 'silent' }),
    });
  temporal = await startTemporal();
  stack.defer(() => temporal.stop());
  const { address } = temporal;
  const native = await NativeConnection.connect({ address });
  stack.defer(() => native.close());
  const connection = await Connection.connect({ address });
  stack.defer(() => connection.close());
  expect(await prepareNamespace(connection, 'default')).toBeNull();
  client = new Client({ connection, namespace: 'default' });
  server = await startBookingServer(kind);
  stack.defer(() => server.stop());
  const service = await startAsking({
    temporal: { client, connection: native },
    url: server.config.url,
    env: { ASKING_TIMEOUT: '5s' },
    around,
    startWorkers: (parts, onStop) => startTwoWorkers(parts, address, onStop),
  });
  stack.defer(() => service.stop());
  alice = await service.as('alice');
}

async function startTwoWorkers(
  parts: Dependencies,
  address: string,
  onStop: AsyncDisposableStack,
): Promise<void> {
  const bundle = await workflowBundle();
  const start = async () => {
    const connection = await NativeConnection.connect({ address });
    onStop.defer(() => connection.close());
    const heldCallLimit = createHeldCallLimit(parts.config.worker.heldCalls);
    const worker = await createTurnWorker({ ...parts, heldCallLimit }, connection, {
      workflowBundle: bundle,
    });
    const running = worker.run();
    onStop.defer(async () => {
      heldCallLimit.end();
      worker.shutdown();
      await running;
    });
    return worker;
  };
  onStop.defer(() => parts.remote.close());
  workers = [await start(), await start()];
}

function around(storage: Storage): Storage {
  const { toolCalls } = storage;
  return {
    ...storage,
    toolCalls: {
      ...toolCalls,
      async keepRound(...given) {
        const isKept = await toolCalls.keepRound(...given);
        await onStored();
        return isKept;
      },
    },
  };
}

/** Stops Temporal now, and starts it again later; resolves with what resolves when it is back. */
async function takeTemporalAway(): Promise<{ back: Promise<void> }> {
  await temporal.stop();
  const back = sleep(awayMs).then(async () => {
    temporal = await startTemporal();
  });
  return { back };
}

async function begin() {
  const conversation = randomUUID();
  const stream = await alice.chat(callOf(['book', { city: 'Lisbon' }]), { conversation });
  return { conversation, stream, question: () => nthQuestion(stream, 0) };
}
type Begun = Awaited<ReturnType<typeof begin>>;

async function answer({ conversation, question }: Begun) {
  return respond(alice, conversation, await question(), { action: 'accept', content: { nights: 3 } });
}

/** Temporal has started another attempt at the call. */
async function untilAnotherAttempt(turn: Begun): Promise<void> {
  const workflow = client.workflow.getHandle(idOf(turn));
  await vi.waitFor(async () => {
    const { raw } = await workflow.describe();
    expect(raw.pendingActivities?.map(({ attempt }) => attempt)).toEqual([2]);
    // The earlier attempt keeps no slot.
    const inFlight = workers.map((worker) => worker.getStatus().numInFlightActivities);
    expect(inFlight.toSorted()).toEqual([0, 1]);
  }, 30_000);
}

async function expectBooked({ stream }: Begun): Promise<void> {
  const chunks = await stream.finished();
  expect(chunks.flatMap(({ errorText }) => errorText ?? [])).toEqual([]);
  expect(stream.text()).toBe('book: Lisbon for 3');
  expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }]);
  expect(server.done).toEqual(['book Lisbon for 3']);
  expect(server.called()).toEqual(['book Lisbon']);
  expect(server.requests.filter(({ method }) => method === 'notifications/cancelled')).toEqual([]);
}

test('a held question that is shown stays open, and the call that waits for it gets its answer', async () => {
  await start('held');
  const turn = await begin();
  await turn.question();
  const { back } = await takeTemporalAway();
  await back;
  await untilAnotherAttempt(turn);
  expect(await answer(turn)).toMatchObject({ status: 200 });
  await expectBooked(turn);
});

test(
  'a held question stays open through more outages than its call has attempts',
  { timeout: 600_000 },
  async () => {
    await start('held');
    const turn = await begin();
    await turn.question();
    const workflow = client.workflow.getHandle(idOf(turn));
    const startedAt = async () => {
      const { raw } = await workflow.describe();
      return raw.pendingActivities?.map(({ lastStartedTime }) => Number(lastStartedTime?.seconds)) ?? [];
    };
    let before = await startedAt();
    for (let outage = 0; outage <= maximumAttempts; outage++) {
      const { back } = await takeTemporalAway();
      await back;
      before = await vi.waitFor(async () => {
        const now = await startedAt();
        expect(now).toHaveLength(1);
        expect(now[0]).toBeGreaterThan(before[0] ?? 0);
        return now;
      }, 60_000);
    }
    expect(await answer(turn)).toMatchObject({ status: 200 });
    await expectBooked(turn);
  },
);

test('a held question is answered while Temporal is away: its server gets the answer at once, and the turn goes on afterwards', async () => {
  await start('held');
  const turn = await begin();
  await turn.question();
  const { back } = await takeTemporalAway();
  expect(await answer(turn)).toMatchObject({ status: 200, body: { duplicate: false } });
  await vi.waitFor(() => expect(server.done).toEqual(['book Lisbon for 3']));
  await back;
  expect(await answer(turn)).toMatchObject({ status: 200, body: { duplicate: true } });
  await expectBooked(turn);
});

test('a question that no call holds is answered while Temporal is away, and the call is continued afterwards', async () => {
  await start('streams');
  const turn = await begin();
  await turn.question();
  const { back } = await takeTemporalAway();
  expect(await answer(turn)).toMatchObject({ status: 200, body: { duplicate: false } });
  expect(server.done).toEqual([]);
  await back;
  expect(await answer(turn)).toMatchObject({ status: 200, body: { duplicate: true } });
  await expectBooked(turn);
});

describe.each(['held', 'streams'] as const)('%s', (kind) => {
  test('a question that Temporal could not be told of is asked when it is back', async () => {
    await start(kind);
    const { promise: isAway, resolve } = Promise.withResolvers<{ back: Promise<void> }>();
    onStored = async () => resolve(await takeTemporalAway());
    const turn = await begin();
    await (
      await isAway
    ).back;
    expect(await answer(turn)).toMatchObject({ status: 200 });
    await expectBooked(turn);
  });
});

test('a cancelled turn ends the call that an earlier attempt still holds', async () => {
  await start('held');
  const turn = await begin();
  await turn.question();
  const { back } = await takeTemporalAway();
  await back;
  await untilAnotherAttempt(turn);
  await alice.cancel(turn.conversation);
  expect((await turn.stream.finished()).at(-1)).toMatchObject({ type: 'abort' });
  await vi.waitFor(() =>
    expect(server.requests.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1),
  );
  expect(server.done).toEqual([]);
});
