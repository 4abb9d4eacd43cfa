/**
 * MCP servers that ask, as it runs in production: PostgreSQL, a Temporal of its own, and workers that come and go while
 * questions are open. Whatever one of them had in its hands, another one goes on with, or says what cannot be known.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Client } from '@interlude-ai/client/client.ts';
import { freePort } from '../free-port.ts';
import { kinds } from '../servers/booking-server.ts';
import { postgresUrl } from '../postgres.ts';
import {
  begin,
  doneFor,
  envOf,
  expectBooked,
  expectNothingHeld,
  expectUnknown,
  startDesks,
  urlsOf,
} from './bookings.ts';
import type { Desks } from './bookings.ts';
import type { ServiceProcess } from './processes.ts';
import { say, textOf } from './watch.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let desks: Desks;
let deployment: Deployment;
let alice: Client;
/** The only one, whenever a test begins. */
let worker: ServiceProcess;

beforeAll(async () => {
  desks = await startDesks();
  const temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      ...envOf(urlsOf(desks)),
      DATABASE_URL: await postgresUrl(),
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
      LOG_LEVEL: 'info',
      // A worker waits so long for people to answer what it holds, too.
      SHUTDOWN_GRACE_PERIOD: '5s',
    },
  });
  deployment.defer(() => Promise.all(kinds.map((kind) => desks[kind].stop())));
  await deployment.startTemporal(temporalPort);
  [worker] = await Promise.all([deployment.start('worker'), deployment.start('server')]);
  alice = deployment.client('alice');
  // The catalogues are learnt: which tools may be repeated is known.
  await say(alice, 'hello').end();
}, 90_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const superseded = {
  status: 'cancelled',
  failures: [expect.stringContaining('who sent a new message instead of answering')],
  cards: [{ status: 'cancel' }],
};

test(
  'a worker is killed with everything in its hands: the other one goes on, under the same questions',
  { timeout: 90_000 },
  async () => {
    const open = kinds.map((kind) => begin(alice, kind, kind === 'held' ? 'plan' : 'book', `Lyon-${kind}`));
    const lost = begin(alice, 'held', 'book', 'Nice');
    const stop = desks.streams.stopAt('Brest', 'after');
    const working = begin(alice, 'streams', 'book', 'Brest');
    await Promise.all([...open, lost].map((booking) => booking.card()));
    await working.answer(6);
    await stop.arrived;

    const other = await deployment.start('worker');
    await worker.kill('SIGKILL');
    worker = other;
    const killedAt = Date.now();
    stop.release();
    for (const booking of open) await booking.answer(5);
    for (const booking of open) await expectBooked(desks, booking, 5);
    await expectBooked(desks, working, 6);
    await expectUnknown(desks, lost, { status: 'cancel', because: 'server_gone' }, []);
    expect(Date.now() - killedAt).toBeLessThan(40_000);
    for (const { kind, city } of [...open, working]) expect(doneFor(desks[kind], city)).toHaveLength(1);
    expect(desks.held.called().filter((call) => call === 'plan Lyon-held')).toHaveLength(2);
    await expectNothingHeld(desks);
  },
);

test.each([{ onBusy: 'cancel' }, {}] as const)(
  'a turn whose worker was killed while it held a question makes room at once: %j',
  { timeout: 90_000 },
  async (options) => {
    const held = begin(alice, 'held', 'book', 'onBusy' in options ? 'Pau' : 'Dax');
    await held.card();
    const other = await deployment.start('worker');
    await worker.kill('SIGKILL');
    worker = other;
    const { conversationId } = held.turn.message;
    const next = await say(alice, 'hello', { conversationId, ...options }).end();
    expect(textOf(next)).toContain('You said: hello');
    expect(await held.end()).toMatchObject(superseded);
    await expectNothingHeld(desks);
  },
);

test(
  'no worker lives when the questions are answered: the answers are taken all the same, and used once',
  { timeout: 90_000 },
  async () => {
    const open = kinds.map((kind) => begin(alice, kind, kind === 'held' ? 'plan' : 'book', `Metz-${kind}`));
    const lost = begin(alice, 'held', 'book', 'Nancy');
    await Promise.all([...open, lost].map((booking) => booking.card()));
    await worker.kill('SIGKILL');

    for (const booking of [...open, lost]) {
      expect(await booking.answer(4)).toMatchObject({ status: 'accept', duplicate: false });
      expect(await booking.answer(4)).toMatchObject({ status: 'accept', duplicate: true });
    }
    for (const { kind, city } of [...open, lost]) expect(doneFor(desks[kind], city)).toEqual([]);

    worker = await deployment.start('worker');
    for (const booking of open) {
      await expectBooked(desks, booking, 4);
      expect(doneFor(desks[booking.kind], booking.city)).toHaveLength(1);
      expect(await booking.answer(4)).toMatchObject({ status: 'accept', duplicate: true });
    }
    await expectUnknown(desks, lost, { status: 'accept' }, []);
    await expectNothingHeld(desks);
  },
);

test(
  'no worker lives when another message comes: it supersedes the turn that waits, and is answered once a worker starts',
  { timeout: 90_000 },
  async () => {
    const open = begin(alice, 'streams', 'book', 'Lens');
    await open.card();
    await worker.kill('SIGKILL');
    const { conversationId } = open.turn.message;
    const next = say(alice, 'hello', { conversationId });
    expect(await open.end()).toMatchObject(superseded);
    await expect(open.answer(3)).rejects.toMatchObject({ status: 410, code: 'turn_over' });
    worker = await deployment.start('worker');
    expect(textOf(await next.end())).toContain('You said: hello');
    await expectNothingHeld(desks);
    expect(doneFor(desks.streams, 'Lens')).toEqual([]);
  },
);

test(
  'a deploy: the old worker leaves in an orderly way, and the new one goes on, also with what a server is at work on',
  { timeout: 90_000 },
  async () => {
    const open = kinds.map((kind) => begin(alice, kind, kind === 'held' ? 'plan' : 'book', `Graz-${kind}`));
    const lost = begin(alice, 'held', 'book', 'Linz');
    const stop = desks.streams.stopAt('Wels', 'before');
    const working = begin(alice, 'streams', 'book', 'Wels');
    await Promise.all([...open, lost].map((booking) => booking.card()));
    await working.answer(6);
    await stop.arrived;

    const next = await deployment.start('worker');
    const stoppedAt = Date.now();
    expect(await worker.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(Date.now() - stoppedAt).toBeLessThan(20_000);
    worker = next;
    stop.release();

    await expectBooked(desks, working, 6);
    for (const booking of open) await booking.answer(7);
    for (const booking of open) await expectBooked(desks, booking, 7);
    await expectUnknown(desks, lost, { status: 'cancel', because: 'server_gone' }, []);
    for (const { kind, city } of [...open, working]) expect(doneFor(desks[kind], city)).toHaveLength(1);
    await expectNothingHeld(desks);
  },
);

test(
  'a question of a call that a worker holds outlives any number of deploys',
  { timeout: 120_000 },
  async () => {
    const held = begin(alice, 'held', 'plan', 'Enns');
    await held.card();
    for (let deploy = 0; deploy < 7; deploy++) {
      const calls = desks.held.called().length;
      const next = await deployment.start('worker');
      await worker.kill('SIGTERM');
      worker = next;
      await expect.poll(() => desks.held.called().length).toBe(calls + 1);
    }
    await held.answer(3);
    await expectBooked(desks, held, 3);
    expect(doneFor(desks.held, 'Enns')).toHaveLength(1);
    await expectNothingHeld(desks);
  },
);
