/** The servers themselves are killed with -9 while their questions are open, or with the answers in their hands. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Socket } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from '@interlude-ai/client/client.ts';
import type { Report, StopOrder } from './booking-process.ts';
import { begin, doneFor, envOf, expectBooked, expectUnknown } from './bookings.ts';
import type { Booking } from './bookings.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import { say } from './watch.ts';
import { freePort } from '../free-port.ts';
import { kinds } from '../servers/booking-server.ts';
import type { Kind } from '../servers/booking-server.ts';

/** Booking servers in a process that is killed and restarted on the same ports. It remembers nothing. */
interface MortalDesks {
  urls: Record<Kind, string>;
  /** What all of them have done so far, in every life. */
  done: Record<Kind, { done: string[] }>;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** While they are dead: resolves when a request to this one has failed. */
  missed(kind: Kind): Promise<void>;
  /** Stops the next call about the city at that moment. Resolves when it has stopped. */
  stopAt(order: StopOrder): Promise<void>;
}

async function prepareDesks(): Promise<MortalDesks> {
  const ports = { rounds: await freePort(), streams: await freePort(), held: await freePort() };
  const urlOf = (kind: Kind) => `http://127.0.0.1:${ports[kind]}/mcp`;
  const done: MortalDesks['done'] = { rounds: { done: [] }, streams: { done: [] }, held: { done: [] } };
  const waiting = new Map<string, () => void>();
  let child: ChildProcess | undefined;

  function hear(report: Report): void {
    switch (report.type) {
      case 'ready':
        return waiting.get('ready')?.();
      case 'done':
        return void done[report.kind].done.push(report.words);
      case 'stopped':
        return waiting.get(report.city)?.();
      default:
        return report satisfies never;
    }
  }

  return {
    urls: { rounds: urlOf('rounds'), streams: urlOf('streams'), held: urlOf('held') },
    done,
    async start() {
      const ready = new Promise<void>((resolve) => waiting.set('ready', resolve));
      child = fork(path.resolve(import.meta.dirname, 'booking-process.ts'), [JSON.stringify(ports)]);
      child.on('message', hear);
      await ready;
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const dead = once(child, 'exit');
      child.kill('SIGKILL');
      await dead;
    },
    async missed(kind) {
      const door = createServer().listen(ports[kind], '127.0.0.1');
      const [socket] = (await once(door, 'connection')) as [Socket];
      socket.on('error', () => undefined).resetAndDestroy();
      door.close();
      await once(door, 'close');
    },
    stopAt(order) {
      const stopped = new Promise<void>((resolve) => waiting.set(order.city, resolve));
      child?.send(order);
      return stopped;
    },
  };
}

let desks: MortalDesks;
let deployment: Deployment;
let alice: Client;

beforeAll(async () => {
  desks = await prepareDesks();
  await desks.start();
  deployment = await createDeployment({ env: envOf(desks.urls) });
  deployment.defer(() => desks.kill());
  await deployment.start('start');
  alice = deployment.client('alice');
  // The catalogues are learnt: which tools may be repeated is known.
  await say(alice, 'hello').end();
}, 90_000);
beforeEach(async () => {
  await desks.kill();
  await desks.start();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const gone = { status: 'cancel', because: 'server_gone' };

async function openAll(cities: Record<'rounds' | 'streams' | 'plan' | 'book', string>) {
  const asked = {
    rounds: begin(alice, 'rounds', 'book', cities.rounds),
    streams: begin(alice, 'streams', 'book', cities.streams),
    plan: begin(alice, 'held', 'plan', cities.plan),
    book: begin(alice, 'held', 'book', cities.book),
  };
  await Promise.all(Object.values(asked).map((booking) => booking.card()));
  return asked;
}

/** How long it takes from now, in milliseconds, until the turn is over. */
function timed({ turn }: Booking): Promise<number> {
  const from = Date.now();
  return turn.end().then(() => Date.now() - from);
}

test(
  'they do not come back: each question closes with the reason, and the model is told what is not known',
  { timeout: 150_000 },
  async () => {
    const asked = await openAll({ rounds: 'Cork', streams: 'Sligo', plan: 'Ennis', book: 'Tralee' });
    await desks.kill();
    const times = { streams: timed(asked.streams), plan: timed(asked.plan), book: timed(asked.book) };

    await expectUnknown(desks.done, asked.book, gone, []);
    expect(await times.book).toBeLessThan(10_000);
    await expectUnknown(desks.done, asked.streams, gone, []);
    expect(await times.streams).toBeLessThan(45_000);
    await expectUnknown(desks.done, asked.plan, gone, []);
    expect(await times.plan).toBeLessThan(60_000);

    // Nothing was held for it, so nothing has been noticed.
    expect((await asked.rounds.card()).status).toBe('pending');
    const taken = Date.now();
    expect(await asked.rounds.answer(2)).toMatchObject({ status: 'accept' });
    const end = await asked.rounds.end();
    expect(Date.now() - taken).toBeLessThan(60_000);
    expect(end.cards).toEqual([{ status: 'accept' }]);
    expect(end.failures).toEqual([expect.stringContaining('cannot be reached')]);
    expect(end.failures[0]).toContain('did not complete');
  },
);

test(
  'they come back without any memory: what needs none goes on under the same question, the rest ends',
  { timeout: 120_000 },
  async () => {
    const asked = await openAll({ rounds: 'Bath', streams: 'Leeds', plan: 'Derby', book: 'York' });
    await desks.kill();
    // Not at once: the call was tried again before they were back.
    await desks.missed('held');
    await desks.start();

    await asked.rounds.answer(3);
    await expectBooked(desks.done, asked.rounds, 3);
    await asked.plan.answer(4);
    await expectBooked(desks.done, asked.plan, 4);
    await expectUnknown(desks.done, asked.book, gone, []);
    await expectUnknown(desks.done, asked.streams, gone, []);
    for (const { kind, city } of [asked.rounds, asked.plan])
      expect(doneFor(desks.done[kind], city)).toHaveLength(1);
  },
);

test(
  'they die with the answers in their hands: what must not be repeated is unknown, the rest is done with the same answer',
  { timeout: 120_000 },
  async () => {
    const cities = { rounds: 'Gent', streams: 'Luik', plan: 'Namen', book: 'Aalst' };
    const stopped = [
      ...kinds.map((kind) =>
        desks.stopAt({ kind, city: cities[kind === 'held' ? 'book' : kind], moment: 'before' }),
      ),
      desks.stopAt({ kind: 'held', city: cities.plan, moment: 'before' }),
    ];
    const asked = await openAll(cities);
    await Promise.all(Object.values(asked).map((booking) => booking.answer(5)));
    await Promise.all(stopped);
    await desks.kill();
    await desks.start();

    for (const which of ['rounds', 'streams', 'book'] as const)
      await expectUnknown(desks.done, asked[which], { status: 'accept' }, []);
    await expectBooked(desks.done, asked.plan, 5);
    expect(doneFor(desks.done.held, cities.plan)).toHaveLength(1);
  },
);
