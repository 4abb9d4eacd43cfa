/**
 * MCP servers that ask, and everything of ours killed with -9 while they wait: a server of the new era, one of the old
 * era whose streams can be taken up again, and one that has to be held. Nothing is done twice, and nobody is asked twice.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import path from 'node:path';
import type { Client } from '@interlude-ai/client/client.ts';
import { recordedServer } from '../../src/platform/development/temporal-server.ts';
import { kinds } from '../servers/booking-server.ts';
import {
  answer,
  begin,
  card,
  doneFor,
  endOf,
  envOf,
  expectBooked,
  expectNothingHeld,
  expectUnknown,
  startDesks,
  urlsOf,
} from './bookings.ts';
import type { Booking, Desks } from './bookings.ts';
import { lacking } from './processes.ts';
import type { ServiceProcess } from './processes.ts';
import { expectOneStory, expectSameForNewcomer, say } from './watch.ts';
import { createDeployment, showOutput } from './deployment.ts';
import { startCommand } from '../cli/start-command.ts';
import type { Deployment } from './deployment.ts';

let desks: Desks;
let deployment: Deployment;
let service: ServiceProcess;
let alice: Client;

beforeAll(async () => {
  desks = await startDesks();
  // Servers that never answer are not what these wait for.
  deployment = await createDeployment({ env: { ...envOf(urlsOf(desks)), SHUTDOWN_GRACE_PERIOD: '10s' } });
  deployment.defer(() => Promise.all(kinds.map((kind) => desks[kind].stop())));
  service = await deployment.start('start');
  alice = deployment.client('alice');
  // The catalogues are learnt: which tools may be repeated is known.
  await say(alice, 'hello').end();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function killAndRestart(meanwhile = () => {}): Promise<void> {
  await service.kill('SIGKILL');
  meanwhile();
  service = await deployment.start('start');
}

describe('everything is killed while their questions are open', () => {
  const asked: Record<'rounds' | 'streams' | 'plan' | 'book', Booking> = {} as never;
  let tookMs: Promise<number>;

  beforeAll(async () => {
    asked.rounds = begin(alice, 'rounds', 'book', 'Lisbon');
    asked.streams = begin(alice, 'streams', 'book', 'Porto');
    asked.plan = begin(alice, 'held', 'plan', 'Faro');
    asked.book = begin(alice, 'held', 'book', 'Braga');
    await Promise.all(Object.values(asked).map((booking) => booking.card()));
    await killAndRestart();
    const restartedAt = Date.now();
    tookMs = asked.book.end().then(() => Date.now() - restartedAt);
  });

  test.each(['rounds', 'streams'] as const)(
    '%s: the question is still open, and its answer goes on with the same call',
    { timeout: 120_000 },
    async (which) => {
      const booking = asked[which];
      expect(await booking.answer(3)).toMatchObject({ status: 'accept' });
      await expectBooked(desks, booking, 3);
      expect(doneFor(desks[which], booking.city)).toHaveLength(1);
      await expectSameForNewcomer(alice, booking.turn);
    },
  );

  test(
    'held, and may be repeated: it is called again under the same question',
    { timeout: 120_000 },
    async () => {
      const { plan } = asked;
      await vi.waitFor(
        () => expect(desks.held.called().filter((call) => call === 'plan Faro')).toHaveLength(2),
        40_000,
      );
      await plan.answer(4);
      await expectBooked(desks, plan, 4);
      expect(doneFor(desks.held, 'Faro')).toHaveLength(1);
      await expectSameForNewcomer(alice, plan.turn);
    },
  );

  test(
    'held, and must not be repeated: the question closes, and the model is told that the outcome is unknown',
    { timeout: 120_000 },
    async () => {
      await expectUnknown(desks, asked.book, { status: 'cancel', because: 'server_gone' }, []);
      expect(await tookMs).toBeLessThan(40_000);
      expect(desks.held.called().filter((call) => call === 'book Braga')).toHaveLength(1);
    },
  );

  test('nothing is left behind at the servers', () => expectNothingHeld(desks));
});

describe('everything is killed while a server has the answer and works', () => {
  const cases = [
    ['rounds', 'book', 'Tartu', 'unknown'],
    ['rounds', 'plan', 'Narva', 'repeated'],
    ['streams', 'book', 'Riga', 'resumed'],
    ['streams', 'plan', 'Liepaja', 'resumed'],
    ['held', 'book', 'Vilnius', 'unknown'],
    ['held', 'plan', 'Kaunas', 'repeated'],
  ] as const;
  const at = new Map<string, Booking>();

  beforeAll(async () => {
    const stops = cases.map(([kind, , city]) => desks[kind].stopAt(city, 'after'));
    for (const [kind, tool, city] of cases) at.set(city, begin(alice, kind, tool, city));
    await Promise.all([...at.values()].map((booking) => booking.answer(2)));
    await Promise.all(stops.map(({ arrived }) => arrived));
    await killAndRestart();
    for (const { release } of stops) release();
  });

  test.each(cases.filter(([, , , outcome]) => outcome === 'unknown'))(
    '%s, %s in %s: the model is told that the outcome is unknown',
    { timeout: 120_000 },
    (kind, tool, city) =>
      expectUnknown(desks, at.get(city)!, { status: 'accept' }, [`${tool} ${city} for 2`]),
  );

  test.each(cases.filter(([, , , outcome]) => outcome !== 'unknown'))(
    '%s, %s in %s: the result comes (%s)',
    { timeout: 120_000 },
    async (kind, tool, city, outcome) => {
      await expectBooked(desks, at.get(city)!, 2);
      // Twice only where the server itself says that twice is as good as once.
      expect(doneFor(desks[kind], city)).toHaveLength(outcome === 'repeated' ? 2 : 1);
    },
  );

  test('nothing is left behind at the servers', () => expectNothingHeld(desks));
});

test(
  'killed with several questions open, one of each pair answered: nobody is asked again, and every answer counts',
  { timeout: 120_000 },
  async () => {
    const pairs = {
      rounds: ['Bergen', 'Oslo'],
      streams: ['Malmo', 'Lund'],
      held: ['Turku', 'Espoo'],
    } as const;
    const lines = kinds.map((kind) => `call ${kind}__compare ${JSON.stringify({ cities: pairs[kind] })}`);
    const turn = say(alice, lines.join('\n'));
    const about = (city: string) => card(turn, `How many nights in ${city}?`);
    await Promise.all(kinds.flatMap((kind) => pairs[kind]).map(about));
    for (const kind of kinds) await answer(alice, turn, await about(pairs[kind][0]), 1);

    await killAndRestart();
    for (const kind of kinds) await answer(alice, turn, await about(pairs[kind][1]), 2);
    const end = await endOf(turn);
    const words = (kind: keyof typeof pairs) => `${pairs[kind][0]} for 1, ${pairs[kind][1]} for 2`;
    expect(end.said.split('\n')).toEqual(kinds.map((kind) => `compare: ${words(kind)}`));
    expect(end.cards).toEqual(Array.from({ length: 6 }, () => ({ status: 'accept' })));
    for (const kind of kinds)
      expect(doneFor(desks[kind], pairs[kind][0])).toEqual([`compare ${words(kind)}`]);
    expectOneStory(turn);
    await expectNothingHeld(desks);
  },
);

test(
  'Temporal alone is killed while their questions are open: what is held stays held, and every call goes on',
  { timeout: 120_000 },
  async () => {
    const bookings = kinds.map((kind) => begin(alice, kind, 'book', `Sofia-${kind}`));
    await Promise.all(bookings.map((booking) => booking.card()));

    const folder = path.join(deployment.dataDir, 'interlude');
    const killed = recordedServer(folder) ?? 0;
    process.kill(killed, 'SIGKILL');
    await vi.waitFor(() => expect(recordedServer(folder)).not.toBe(killed));
    await vi.waitFor(async () => expect(await lacking(deployment.baseUrl)).toEqual([]));

    for (const booking of bookings) await booking.answer(5);
    for (const booking of bookings) {
      await expectBooked(desks, booking, 5);
      expect(booking.turn.line).toEqual([]);
      expect(doneFor(desks[booking.kind], booking.city)).toHaveLength(1);
    }
    await expectNothingHeld(desks);
  },
);

test(
  'a held question keeps no process that stops, however long calls may take',
  { timeout: 120_000 },
  async () => {
    await service.kill('SIGTERM');
    service = await deployment.start('start', { SHUTDOWN_GRACE_PERIOD: '10m' });
    const [again, once] = [begin(alice, 'held', 'plan', 'Split'), begin(alice, 'held', 'book', 'Zadar')];
    await Promise.all([again, once].map((booking) => booking.card()));
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    await expect.poll(() => desks.held.sessions.size).toBe(0);

    service = await deployment.start('start');
    await again.answer(4);
    await expectBooked(desks, again, 4);
    await expectUnknown(desks, once, { status: 'cancel', because: 'server_gone' }, []);
    await expectNothingHeld(desks);
  },
);

test(
  'stopped on purpose while their questions are open: the servers hear of it where they must, and the rest goes on after the next start',
  { timeout: 120_000 },
  async () => {
    const open = kinds.map((kind) => begin(alice, kind, kind === 'held' ? 'plan' : 'book', `Graz-${kind}`));
    const lost = begin(alice, 'held', 'book', 'Linz');
    const stop = desks.streams.stopAt('Wels', 'before');
    const working = begin(alice, 'streams', 'book', 'Wels');
    await Promise.all([...open, lost].map((booking) => booking.card()));
    await working.answer(6);
    await stop.arrived;

    const stoppedAt = Date.now();
    expect(await service.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(Date.now() - stoppedAt).toBeLessThan(20_000);
    await expect.poll(() => desks.held.sessions.size).toBe(0);
    await expect.poll(() => desks.streams.sessions.size).toBe(2);
    stop.release();
    service = await deployment.start('start');

    await expectBooked(desks, working, 6);
    expect(doneFor(desks.streams, 'Wels')).toHaveLength(1);
    for (const booking of open) await booking.answer(7);
    for (const booking of open) {
      await expectBooked(desks, booking, 7);
      expect(doneFor(desks[booking.kind], booking.city)).toHaveLength(1);
    }
    await expectUnknown(desks, lost, { status: 'cancel', because: 'server_gone' }, []);
    await expectNothingHeld(desks);
  },
);

test(
  'a server is gone when the answer comes: `interlude turn` says why the call is repeated, and when',
  { timeout: 120_000 },
  async () => {
    const booking = begin(alice, 'rounds', 'book', 'Evora');
    await booking.card();
    await desks.rounds.stop();
    await booking.answer(2);
    const { turnId } = booking.turn.views[0]!;
    const shown = async () => (await startCommand(['turn', turnId ?? ''], deployment.environment)).output;
    await expect
      .poll(shown)
      .toMatch(
        /\n {2}last error +Rounds could not be reached; the answers are sent later\. \(attempt \d; the next (?:in [\d.]+ s|has begun)\)\n/,
      );
  },
);
