/** What an operator does after Temporal has lost its data, or the database was restored to an earlier time. */
import { randomUUID } from 'node:crypto';
import { cp, rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { copyDatabase, rowsOf } from '../../copy-database.ts';
import { begin, doneFor } from '../../e2e/bookings.ts';
import { showOutput } from '../../e2e/deployment.ts';
import { readiness } from '../../e2e/processes.ts';
import { say, textOf } from '../../e2e/watch.ts';
import { postgresUrl } from '../../postgres.ts';
import { nthQuestion } from '../../service/asking.ts';
import { dueIn, notTogether, startSite } from './site.ts';
import type { Site } from './site.ts';

let site: Site;
let database: string;

beforeEach(async () => {
  database = await postgresUrl();
  site = await startSite({ database });
}, 90_000);
afterEach((context) => showOutput(() => site.deployment)(context));
afterEach(() => site.deployment.stop());

test(
  'Temporal is replaced by an empty one under running processes: they end, and once an operator has decided, turns that wait go on, with their questions open',
  { timeout: 240_000 },
  async () => {
    const rounds = begin(site.alice, 'rounds', 'book', 'Caen');
    const held = begin(site.alice, 'held', 'book', 'Laon');
    const repeatable = begin(site.alice, 'held', 'plan', 'Lens');
    const all = [rounds, held, repeatable];
    await Promise.all(all.map((booking) => booking.card()));
    const tables = ['turns', 'elicitations', 'tool_calls', 'messages'];

    await site.stopTemporal();
    await rm(site.temporalFolder, { recursive: true });
    await site.startTemporal();
    for (const each of site.processes) expect(await each.ended).toMatchObject({ code: 1 });
    await site.startWaiting();
    const before = await rowsOf(database, tables);

    expect(await site.command('status')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/not ended: 3\. Temporal does not know: 3\..*do not belong together/s),
    });
    expect(await site.command('adopt', '--turns', 'restart', '--dry-run')).toMatchObject({ code: 0 });
    expect(await site.command('adopt', '--turns', 'perhaps')).toMatchObject({ code: 2 });
    expect(await rowsOf(database, tables)).toEqual(before);
    expect(await site.command('adopt', '--turns', 'restart')).toMatchObject({
      code: 0,
      errors: '',
      output: expect.stringContaining('Turns ended: 0. Begun again: 3.'),
    });
    expect(await site.command('status')).toMatchObject({ code: 0 });
    expect(await site.command('adopt', '--turns', 'end')).toMatchObject({
      code: 0,
      output: expect.stringContaining('nothing to do'),
    });
    const audit = await rowsOf(database, ['audit']);
    expect(audit).toContainEqual({
      row: expect.objectContaining({ action: 'adopted', detail: '0 turns ended, 3 begun again' }),
    });

    await rounds.answer(2);
    expect(await rounds.end()).toMatchObject({
      status: 'completed',
      said: 'book: Caen for 2',
      cards: [{ status: 'accept' }],
    });
    expect(doneFor(site.desks.rounds, 'Caen')).toEqual(['book Caen for 2']);
    // Its server held the line of the process that has ended.
    expect(await held.end()).toMatchObject({
      status: 'completed',
      failures: [expect.stringContaining('unknown whether the action took place')],
    });
    expect(doneFor(site.desks.held, 'Laon')).toEqual([]);
    // The call was made again, and its server asked the same.
    await repeatable.answer(2);
    expect(await repeatable.end()).toMatchObject({
      status: 'completed',
      said: 'plan: Lens for 2',
      cards: [{ status: 'accept' }],
    });
    expect(doneFor(site.desks.held, 'Lens')).toEqual(['plan Lens for 2']);
  },
);

test(
  'the database is restored to an earlier time: what waited then goes on, and what only Temporal knows is terminated',
  { timeout: 240_000 },
  async () => {
    const waiting = begin(site.alice, 'rounds', 'book', 'Brest');
    await waiting.card();
    const backup = await postgresUrl();
    await (await openStorage({ kind: 'postgres', url: backup })).close();
    await copyDatabase(database, backup);
    const conversation = randomUUID();
    const caller = await site.deployment.caller('alice');
    // Without a client of ours, which would send the message again.
    await nthQuestion(await caller.chat('call rounds__book {"city":"Nancy"}', { conversation }), 0);
    await site.stopProcesses();

    // As an hour later: generations that the backup does not have, and none of its turns has moved since its last one.
    await site.advance(3);
    await dueIn(backup, 3_600_000);
    site.deployment.environment['DATABASE_URL'] = backup;
    await site.startWaiting();
    expect(await site.command('status')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /Temporal does not know: 0\. Went on without this database: 0\. Only Temporal knows: 1\..*is older than Temporal/s,
      ),
    });
    expect(await site.command('adopt', '--turns', 'end')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/was written \d+ s ago.*--take-over/s),
    });
    expect(await site.command('adopt', '--turns', 'end', '--take-over')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Turns ended: 0. Begun again: 0. Terminated at Temporal: 1.'),
    });

    await vi.waitFor(async () => expect(await readiness(site.deployment.baseUrl)).toBe(200));
    await waiting.answer(4);
    expect(await waiting.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    expect(doneFor(site.desks.rounds, 'Brest')).toEqual(['book Brest for 4']);
    expect(doneFor(site.desks.rounds, 'Nancy')).toEqual([]);
    const next = say(site.alice, 'hello', { conversationId: conversation });
    expect(textOf(await next.end())).toContain('You said: hello');
  },
);

test(
  'Temporal is restored to an earlier time: what it knows goes on, and so does what only the database knows',
  { timeout: 240_000 },
  async () => {
    const known = begin(site.alice, 'rounds', 'book', 'Brest');
    await known.card();
    const folder = site.temporalFolder;
    const backup = `${site.deployment.dataDir}/backup`;
    await site.stopTemporal();
    await cp(folder, backup, { recursive: true });
    await site.startTemporal();
    const unknown = begin(site.alice, 'rounds', 'plan', 'Nancy');
    await unknown.card();
    await site.stopProcesses();

    await site.advance(1);
    await site.stopTemporal();
    await rm(folder, { recursive: true });
    await cp(backup, folder, { recursive: true });
    await site.startTemporal();
    await site.startWaiting();
    expect(await site.command('status')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /not ended: 2\. Temporal does not know: 1\..*Temporal is older than the database/s,
      ),
    });
    expect(await site.command('adopt', '--turns', 'restart')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Turns ended: 0. Begun again: 1. Terminated at Temporal: 0.'),
    });
    await vi.waitFor(async () => expect(await readiness(site.deployment.baseUrl)).toBe(200));
    await unknown.answer(2);
    expect(await unknown.end()).toMatchObject({ status: 'completed', said: 'plan: Nancy for 2' });
    await known.answer(4);
    expect(await known.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    expect(doneFor(site.desks.rounds, 'Brest')).toEqual(['book Brest for 4']);
  },
);

test(
  'an API that starts while Temporal is away is no stranger to it: it keeps the answer and sends nothing until Temporal is back',
  { timeout: 240_000 },
  async () => {
    const booking = begin(site.alice, 'rounds', 'book', 'Vichy');
    const { elicitationId } = await booking.card();
    const { conversationId } = booking.turn.message;
    await site.stopTemporal();
    await site.processes[1]?.kill('SIGTERM');
    const api = site.deployment.spawn('server');
    const caller = await site.deployment.caller('alice');
    const say3 = () =>
      caller.answer({ conversationId, elicitationId, action: 'accept', content: { nights: 3 } });
    const receipt = (duplicate: boolean) => ({ status: 200, body: { status: 'accept', duplicate } });
    await vi.waitFor(async () => expect(await say3()).toMatchObject(receipt(false)), 60_000);
    expect(await rowsOf(database, ['outbox'])).toHaveLength(1);
    expect(api.output()).not.toMatch(notTogether);
    await site.startTemporal();
    expect(await booking.end()).toMatchObject({ status: 'completed', said: 'book: Vichy for 3' });
    expect(doneFor(site.desks.rounds, 'Vichy')).toEqual(['book Vichy for 3']);
    expect(await say3()).toMatchObject(receipt(true));
    await vi.waitFor(async () => expect(await rowsOf(database, ['outbox'])).toEqual([]));
    expect(api.isAlive() && site.processes[0]?.isAlive()).toBe(true);
    expect(await site.command('status')).toMatchObject({ code: 0 });
  },
);
