/** The servers themselves are killed with -9 while their questions are open, or with the answers in their hands. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.ts';
import { kinds } from '../servers/booking-server.ts';
import { prepareDesks } from './booking-desks.ts';
import type { MortalDesks } from './booking-desks.ts';
import { begin, doneFor, envOf, expectBooked, expectUnknown } from './bookings.ts';
import type { Booking } from './bookings.ts';
import { say } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import type { Deployment } from './deployment.ts';

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
