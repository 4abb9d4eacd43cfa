/**
 * One of the two stores is restored to an hour ago, and turns have gone on in that hour. Nothing is touched until an operator
 * has decided; then each turn goes on or ends, and nothing is done twice.
 */
import { cp, rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client as TemporalClient, Connection } from '@temporalio/client';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { copyDatabase, rowsOf } from '../../copy-database.ts';
import { answer, begin, card, doneFor, endOf } from '../../e2e/bookings.ts';
import type { Booking } from '../../e2e/bookings.ts';
import { showOutput } from '../../e2e/deployment.ts';
import { readiness } from '../../e2e/processes.ts';
import { say, textOf } from '../../e2e/watch.ts';
import { postgresUrl } from '../../postgres.ts';
import { kinds } from '../../servers/booking-server.ts';
import { dueIn, startSite } from './site.ts';
import type { Site } from './site.ts';

const tables = [
  'turns',
  'turn_events',
  'elicitations',
  'tool_calls',
  'tool_call_rounds',
  'messages',
  'outbox',
];

let site: Site;
let database: string;

beforeEach(async () => {
  database = await postgresUrl();
  site = await startSite({ database });
}, 90_000);
afterEach((context) => showOutput(() => site.deployment)(context));
afterEach(() => site.deployment.stop());

const book = (city: string) => begin(site.alice, 'rounds', 'book', city);
const done = (city: string) => doneFor(site.desks.rounds, city);

async function killProcesses(): Promise<void> {
  await Promise.all(site.processes.map((each) => each.kill('SIGKILL')));
}

/** Processes that wait for an operator change no row, send no request, and nothing that a workflow would record. */
async function expectNothingTouched(): Promise<void> {
  const address = site.deployment.environment['TEMPORAL_ADDRESS'] ?? '';
  const connection = await Connection.connect({ address });
  const { workflow } = new TemporalClient({ connection, namespace: 'default' });
  const stateOf = async () => {
    const runs: string[] = [];
    for await (const { workflowId, status } of workflow.list()) {
      const { historyLength } = await workflow.getHandle(workflowId).describe();
      runs.push(`${workflowId} ${status.name} ${historyLength}`);
    }
    return {
      rows: await rowsOf(site.deployment.environment['DATABASE_URL'] ?? '', tables),
      requests: kinds.map((kind) => site.desks[kind].requests.length),
      runs: runs.toSorted(),
    };
  };
  const before = await stateOf();
  // Several rounds of every loop.
  await sleep(8_000);
  expect(await stateOf()).toEqual(before);
  await connection.close();
}

async function adopt(...more: string[]): Promise<string> {
  const { code, output, errors } = await site.command('adopt', '--turns', 'restart', ...more);
  expect([code, errors]).toEqual([0, '']);
  await vi.waitFor(async () => expect(await readiness(site.deployment.baseUrl)).toBe(200), 60_000);
  return output;
}

async function expectAnotherMessage({ turn }: Booking): Promise<void> {
  const next = say(site.alice, 'hello', { conversationId: turn.message.conversationId });
  expect(textOf(await next.end())).toContain('You said: hello');
}

/** Its request reaches the server, which does what is asked; its process does not live to read the result. */
async function answerInVain(booking: Booking): Promise<void> {
  const stop = site.desks.rounds.stopAt(booking.city, 'after');
  await booking.answer(2);
  await stop.arrived;
}

test(
  'the database: turns that went on in that hour end, those that only waited go on',
  { timeout: 300_000 },
  async () => {
    const [waiting, answered, underWay] = [book('Brest'), book('Nantes'), book('Rennes')];
    await Promise.all([waiting, answered, underWay].map((booking) => booking.card()));
    // Temporal's times are compared by the second.
    await sleep(2_000);
    const backup = await postgresUrl();
    await (await openStorage({ kind: 'postgres', url: backup })).close();
    await copyDatabase(database, backup);
    // Its last generation is so old that all that follows is later, and all before is earlier.
    await dueIn(backup, 180_000);
    await sleep(2_000);
    await answered.answer(1);
    expect(await answered.end()).toMatchObject({ said: 'book: Nantes for 1' });
    await answerInVain(underWay);
    await killProcesses();
    await site.advance(2);

    site.deployment.environment['DATABASE_URL'] = backup;
    await site.startWaiting();
    await expectNothingTouched();
    expect(await adopt('--take-over')).toContain(
      'Turns ended: 2. Begun again: 0. Terminated at Temporal: 2.',
    );
    await waiting.answer(4);
    expect(await waiting.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    for (const booking of [answered, underWay]) {
      await expect(booking.answer(5)).rejects.toMatchObject({ status: 410 });
      await expectAnotherMessage(booking);
    }
    expect(['Brest', 'Nantes', 'Rennes'].map(done)).toEqual([
      ['book Brest for 4'],
      ['book Nantes for 1'],
      ['book Rennes for 2'],
    ]);
  },
);

test(
  'Temporal: turns go on from what the database knows, also where an answer was acted on in that hour',
  { timeout: 300_000 },
  async () => {
    const [waiting, answered, underWay] = [book('Brest'), book('Nantes'), book('Rennes')];
    await Promise.all([waiting, answered, underWay].map((booking) => booking.card()));
    const both = say(site.alice, 'call rounds__book {"city":"Vannes"}\ncall rounds__book {"city":"Quimper"}');
    const first = await card(both, 'How many nights in Vannes?');
    const second = await card(both, 'How many nights in Quimper?');
    const backup = `${site.deployment.dataDir}/backup`;
    await site.stopTemporal();
    await cp(site.temporalFolder, backup, { recursive: true });
    await site.startTemporal();
    await answered.answer(1);
    expect(await answered.end()).toMatchObject({ said: 'book: Nantes for 1' });
    await answer(site.alice, both, first, 6);
    await vi.waitFor(() => expect(done('Vannes')).toEqual(['book Vannes for 6']));
    await both.until(({ parts }) => JSON.stringify(parts).includes('book: Vannes for 6'));
    await answerInVain(underWay);
    await killProcesses();
    await site.advance(1);

    await site.stopTemporal();
    await rm(site.temporalFolder, { recursive: true });
    await cp(backup, site.temporalFolder, { recursive: true });
    await site.startTemporal();
    await site.startWaiting();
    await expectNothingTouched();
    expect(await adopt()).toContain('Turns ended: 0. Begun again: 0. Terminated at Temporal: 1.');

    await answer(site.alice, both, second, 7);
    expect(await endOf(both)).toMatchObject({
      status: 'completed',
      said: 'book: Vannes for 6\nbook: Quimper for 7',
      failures: [],
    });
    expect(await underWay.end()).toMatchObject({
      status: 'completed',
      failures: [expect.stringContaining('unknown whether the action took place')],
    });
    await waiting.answer(4);
    expect(await waiting.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    await expectAnotherMessage(answered);
    expect(['Brest', 'Nantes', 'Rennes', 'Vannes', 'Quimper'].map(done)).toEqual([
      ['book Brest for 4'],
      ['book Nantes for 1'],
      ['book Rennes for 2'],
      ['book Vannes for 6'],
      ['book Quimper for 7'],
    ]);
  },
);
