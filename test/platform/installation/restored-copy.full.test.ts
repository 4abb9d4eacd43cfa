/**
 * A copy of the production database that is started on an empty Temporal namespace, for a drill or by mistake: it has
 * production's turns, accounts and open calls, and must touch none of them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Client } from '@interlude-ai/client/client.ts';
import { startTemporalServer } from '../../../src/platform/development/temporal-server.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { copyDatabase, rowsOf } from '../../copy-database.ts';
import { begin, envOf, expectBooked, expectNothingHeld, startDesks, urlsOf } from '../../e2e/bookings.ts';
import type { Desks } from '../../e2e/bookings.ts';
import { createDeployment, showOutput, someKeys } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import { say } from '../../e2e/watch.ts';
import { freePort } from '../../free-port.ts';
import { postgresUrl } from '../../postgres.ts';
import { kinds } from '../../servers/booking-server.ts';

/** Several rounds of every loop that a process runs. */
const severalRoundsMs = 8_000;
const touched = ['turns', 'turn_events', 'elicitations', 'tool_calls', 'tool_call_rounds', 'messages'];

let desks: Desks;
let deployment: Deployment;
let alice: Client;
let database: string;

async function startTemporal(name: string): Promise<string> {
  const port = await freePort();
  const temporal = await startTemporalServer({
    temporal: { namespace: 'default', port, uiPort: await freePort() },
    dataDir: `${deployment.dataDir}/${name}`,
    logger: pino({ level: 'silent' }),
  });
  deployment.defer(() => temporal.stop());
  return `127.0.0.1:${port}`;
}

beforeAll(async () => {
  desks = await startDesks();
  database = await postgresUrl();
  deployment = await createDeployment({
    env: { ...envOf(urlsOf(desks)), DATABASE_URL: database, INTERLUDE_KEYS: someKeys },
  });
  deployment.defer(() => Promise.all(kinds.map((kind) => desks[kind].stop())));
  deployment.environment['TEMPORAL_ADDRESS'] = await startTemporal('production');
  await Promise.all([deployment.start('worker'), deployment.start('server')]);
  alice = deployment.client('alice');
  await say(alice, 'hello').end();
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

test(
  'it touches no turn and no server, says why, and the original goes on',
  { timeout: 120_000 },
  async () => {
    const open = kinds.map((kind) => begin(alice, kind, 'book', `Brest-${kind}`));
    await Promise.all(open.map((booking) => booking.card()));

    const copy = await postgresUrl();
    await (await openStorage({ kind: 'postgres', url: copy })).close();
    await copyDatabase(database, copy);
    const port = await freePort();
    const environment = {
      DATABASE_URL: copy,
      TEMPORAL_ADDRESS: await startTemporal('drill'),
      PORT: String(port),
    };
    const before = await rowsOf(copy, touched);
    const requests = () => kinds.map((kind) => desks[kind].requests.filter(isCancellation).length);
    const requestsBefore = requests();
    const worker = deployment.spawn('worker', environment);
    const api = deployment.spawn('server', environment);
    const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    await vi.waitFor(async () => expect((await at('/healthz')).status).toBe(200));
    await sleep(severalRoundsMs);
    expect.soft(requests()).toEqual(requestsBefore);
    expect(await rowsOf(copy, touched)).toEqual(before);

    const why = /do not belong together.*interlude installation adopt/s;
    const ready = await at('/readyz');
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      notReady: expect.arrayContaining([{ name: 'installation', detail: expect.stringMatching(why) }]),
    });
    for (const process of [worker, api]) expect(process.output()).toMatch(why);
    expect((await at('/run/v1/models')).status).toBe(503);
    for (const each of [worker, api]) expect(await each.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(await rowsOf(copy, touched)).toEqual(before);

    for (const booking of open) {
      await booking.answer(3);
      await expectBooked(desks, booking, 3);
    }
    await expectNothingHeld(desks);
  },
);

function isCancellation({ body }: Desks['held']['requests'][number]): boolean {
  return JSON.stringify(body ?? '').includes('notifications/cancelled');
}
