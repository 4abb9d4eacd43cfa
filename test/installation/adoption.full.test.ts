/** What an operator does after Temporal has lost its data, or the database was restored to an earlier time. */
import { randomUUID } from 'node:crypto';
import { cp, rm } from 'node:fs/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Client as DatabaseClient } from 'pg';
import type { Client } from '../../src/client/client.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { startTemporalServer } from '../../src/development/temporal-server.ts';
import type { TemporalServer } from '../../src/development/temporal-server.ts';
import { openInstallation } from '../../src/installation/installation.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { startCommand } from '../cli/start-command.ts';
import { copyDatabase, rowsOf } from '../copy-database.ts';
import { answer, begin, card, doneFor, envOf, startDesks, urlsOf } from '../e2e/bookings.ts';
import type { Booking, Desks } from '../e2e/bookings.ts';
import { createDeployment, showOutput, someKeys } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { readiness } from '../e2e/processes.ts';
import type { ServiceProcess } from '../e2e/processes.ts';
import { say, textOf } from '../e2e/watch.ts';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';
import { kinds } from '../servers/booking-server.ts';
import { nthQuestion } from '../service/asking.ts';

const why = /do not belong together.*interlude installation adopt/s;

let desks: Desks;
let deployment: Deployment;
let alice: Client;
let database: string;
let temporalPort: number;
let temporal: TemporalServer;
let processes: ServiceProcess[];

async function startTemporal(): Promise<void> {
  temporal = await startTemporalServer({
    temporal: { namespace: 'default', port: temporalPort, uiPort: await freePort() },
    dataDir: `${deployment.dataDir}/temporal`,
    logger: pino({ level: 'silent' }),
  });
}

async function startProcesses(): Promise<void> {
  processes = await Promise.all([deployment.start('worker'), deployment.start('server')]);
}

async function stopProcesses(): Promise<void> {
  await Promise.all(processes.map((each) => each.kill('SIGTERM')));
}

/** Processes that wait for an operator are not ready, so they are only started. */
async function startWaiting(): Promise<void> {
  processes = [deployment.spawn('worker'), deployment.spawn('server')];
  for (const each of processes) await vi.waitFor(() => expect(each.output()).toMatch(why), 30_000);
}

const command = (...words: string[]) => startCommand(['installation', ...words], deployment.environment);
const turnOf = (booking: Booking) => booking.turn.message.conversationId;

beforeEach(async () => {
  desks = await startDesks();
  database = await postgresUrl();
  temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      ...envOf(urlsOf(desks)),
      DATABASE_URL: database,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
    },
  });
  deployment.defer(() => Promise.all(kinds.map((kind) => desks[kind].stop())));
  deployment.defer(() => temporal.stop());
  await startTemporal();
  await startProcesses();
  alice = deployment.client('alice');
  // The catalogues are learnt: which tools may be repeated is known.
  await say(alice, 'hello').end();
}, 90_000);
afterEach((context) => showOutput(() => deployment)(context));
afterEach(() => deployment.stop());

test(
  'Temporal is replaced by an empty one under running processes: they end, and once an operator has decided, turns that only wait begin again',
  { timeout: 240_000 },
  async () => {
    const again = [begin(alice, 'rounds', 'plan', 'Metz'), begin(alice, 'held', 'plan', 'Lens')];
    const lost = [begin(alice, 'rounds', 'book', 'Caen'), begin(alice, 'held', 'book', 'Laon')];
    await Promise.all([...again, ...lost].map((booking) => booking.card()));
    const tables = ['turns', 'elicitations', 'tool_calls', 'messages'];

    await temporal.stop();
    await rm(`${deployment.dataDir}/temporal`, { recursive: true });
    await startTemporal();
    for (const each of processes) expect(await each.ended).toMatchObject({ code: 1 });
    await startWaiting();
    const before = await rowsOf(database, tables);

    expect(await command('status')).toMatchObject({
      code: 1,
      output: expect.stringMatching(/not ended: 4\. Temporal does not know: 4\..*do not belong together/s),
    });
    expect(await command('adopt', '--turns', 'restart', '--dry-run')).toMatchObject({ code: 0 });
    expect(await command('adopt', '--turns', 'perhaps')).toMatchObject({ code: 2 });
    expect(await rowsOf(database, tables)).toEqual(before);
    expect(await command('adopt', '--turns', 'restart')).toMatchObject({
      code: 0,
      errors: '',
      output: expect.stringContaining('Turns ended: 2. Begun again: 2.'),
    });
    expect(await command('status')).toMatchObject({ code: 0 });
    expect(await command('adopt', '--turns', 'end')).toMatchObject({
      code: 0,
      output: expect.stringContaining('nothing to do'),
    });
    const audit = await rowsOf(database, ['audit']);
    expect(audit).toContainEqual({
      row: expect.objectContaining({ action: 'adopted', detail: '2 turns ended, 2 begun again' }),
    });

    for (const booking of lost)
      expect(await booking.end()).toMatchObject({ status: 'failed', cards: [{ status: 'cancel' }] });
    for (const booking of again) {
      const asked = await card(booking.turn, `How many nights in ${booking.city}?`, 1);
      await answer(alice, booking.turn, asked, 2);
      expect(await booking.end()).toMatchObject({
        status: 'completed',
        cards: [{ status: 'cancel' }, { status: 'accept' }],
      });
      expect(doneFor(desks[booking.kind], booking.city)).toEqual([`plan ${booking.city} for 2`]);
    }
    for (const booking of lost) {
      expect(doneFor(desks[booking.kind], booking.city)).toEqual([]);
      const next = say(alice, 'hello', { conversationId: turnOf(booking) });
      expect(textOf(await next.end())).toContain('You said: hello');
    }
  },
);

test(
  'the database is restored to an earlier time: what waited then goes on, and what only Temporal knows is terminated',
  { timeout: 240_000 },
  async () => {
    const waiting = begin(alice, 'rounds', 'book', 'Brest');
    await waiting.card();
    const backup = await postgresUrl();
    await (await openStorage({ kind: 'postgres', url: backup })).close();
    await copyDatabase(database, backup);
    const conversation = randomUUID();
    const caller = await deployment.caller('alice');
    // Without a client of ours, which would send the message again.
    await nthQuestion(await caller.chat('call rounds__book {"city":"Nancy"}', { conversation }), 0);
    await stopProcesses();

    // As an hour later: generations that the backup does not have, and none of its turns has moved since its last one.
    await advance(3);
    await dueIn(backup, 3_600_000);
    deployment.environment['DATABASE_URL'] = backup;
    await startWaiting();
    expect(await command('status')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /Temporal does not know: 0\. Went on without this database: 0\. Only Temporal knows: 1\..*is older than Temporal/s,
      ),
    });
    expect(await command('adopt', '--turns', 'end')).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/was written \d+ s ago.*--take-over/s),
    });
    expect(await command('adopt', '--turns', 'end', '--take-over')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Turns ended: 0. Begun again: 0. Terminated at Temporal: 1.'),
    });

    await vi.waitFor(async () => expect(await readiness(deployment.baseUrl)).toBe(200), 30_000);
    await waiting.answer(4);
    expect(await waiting.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    expect(doneFor(desks.rounds, 'Brest')).toEqual(['book Brest for 4']);
    expect(doneFor(desks.rounds, 'Nancy')).toEqual([]);
    const next = say(alice, 'hello', { conversationId: conversation });
    expect(textOf(await next.end())).toContain('You said: hello');
  },
);

test(
  'Temporal is restored to an earlier time: what it knows goes on, and what it does not know begins again',
  { timeout: 240_000 },
  async () => {
    const known = begin(alice, 'rounds', 'book', 'Brest');
    await known.card();
    const folder = `${deployment.dataDir}/temporal`;
    const backup = `${deployment.dataDir}/backup`;
    await temporal.stop();
    await cp(folder, backup, { recursive: true });
    await startTemporal();
    const unknown = begin(alice, 'rounds', 'plan', 'Nancy');
    await unknown.card();
    await stopProcesses();

    await advance(1);
    await temporal.stop();
    await rm(folder, { recursive: true });
    await cp(backup, folder, { recursive: true });
    await startTemporal();
    await startWaiting();
    expect(await command('status')).toMatchObject({
      code: 1,
      output: expect.stringMatching(
        /not ended: 2\. Temporal does not know: 1\..*Temporal is older than the database/s,
      ),
    });
    expect(await command('adopt', '--turns', 'restart')).toMatchObject({
      code: 0,
      output: expect.stringContaining('Turns ended: 0. Begun again: 1. Terminated at Temporal: 0.'),
    });
    const asked = await card(unknown.turn, 'How many nights in Nancy?', 1);
    await answer(alice, unknown.turn, asked, 2);
    expect(await unknown.end()).toMatchObject({ status: 'completed', said: 'plan: Nancy for 2' });
    await known.answer(4);
    expect(await known.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    expect(doneFor(desks.rounds, 'Brest')).toEqual(['book Brest for 4']);
  },
);

test(
  'an API that starts while Temporal is away is no stranger to it: it keeps the answer and sends nothing until Temporal is back',
  { timeout: 240_000 },
  async () => {
    const booking = begin(alice, 'rounds', 'book', 'Vichy');
    const { elicitationId } = await booking.card();
    const { conversationId } = booking.turn.message;
    await temporal.stop();
    await processes[1]?.kill('SIGTERM');
    const api = deployment.spawn('server');
    const caller = await deployment.caller('alice');
    const say3 = () =>
      caller.answer({ conversationId, elicitationId, action: 'accept', content: { nights: 3 } });
    const receipt = (duplicate: boolean) => ({ status: 200, body: { status: 'accept', duplicate } });
    await vi.waitFor(async () => expect(await say3()).toMatchObject(receipt(false)), 60_000);
    expect(await rowsOf(database, ['outbox'])).toHaveLength(1);
    expect(api.output()).not.toMatch(why);
    await startTemporal();
    expect(await booking.end()).toMatchObject({ status: 'completed', said: 'book: Vichy for 3' });
    expect(doneFor(desks.rounds, 'Vichy')).toEqual(['book Vichy for 3']);
    expect(await say3()).toMatchObject(receipt(true));
    await vi.waitFor(async () => expect(await rowsOf(database, ['outbox'])).toEqual([]), 10_000);
    expect(api.isAlive() && processes[0]?.isAlive()).toBe(true);
    expect(await command('status')).toMatchObject({ code: 0 });
  },
);

/** Writes generations as the leaseholder does, without its pauses. */
async function advance(times: number): Promise<void> {
  await dueIn(database, 0);
  const config = loadConfig(deployment.environment, deployment.dataDir);
  const storage = await openStorage(config.database);
  const installation = openInstallation({ config, storage, logger: pino({ level: 'silent' }) });
  for (let count = 0; count < times; count++) {
    const before = (await storage.installation.read())?.generation ?? 0;
    await vi.waitFor(async () => {
      await installation.advance(0);
      expect((await storage.installation.read())?.generation).toBe(before + 1);
    }, 20_000);
  }
  await installation.close();
  await storage.close();
}

/** When the database's next generation is to be written, and so how old its last one is. */
async function dueIn(url: string, ms: number): Promise<void> {
  const client = new DatabaseClient({ connectionString: url });
  await client.connect();
  await client.query('update installation set due_at = $1', [Date.now() + ms]);
  await client.end();
}
