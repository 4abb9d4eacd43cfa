/** One physical backup of the database and of Temporal is restored where nothing else is left, as docs/operating.md says it. */
import { cp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startCommand } from '../../cli/start-command.ts';
import { begin, expectBooked } from '../../e2e/bookings.ts';
import { showOutput } from '../../e2e/deployment.ts';
import { say } from '../../e2e/watch.ts';
import { freePort } from '../../free-port.ts';
import { createCluster, createCopy, query } from '../../setup/postgres-server.ts';
import type { Cluster } from '../../setup/postgres-server.ts';
import { startSite } from './site.ts';
import type { Site } from './site.ts';

const urlAt = ({ port }: Cluster, database: string) => `postgres://interlude@127.0.0.1:${port}/${database}`;

let site: Site;
let primary: Cluster;
let restored: Cluster | undefined;

beforeEach(async () => {
  primary = createCluster({ port: await freePort() });
  await primary.start();
  await query(urlAt(primary, 'postgres'), 'create database service');
  site = await startSite({ database: urlAt(primary, 'service') });
}, 90_000);
afterEach((context) => showOutput(() => site.deployment)(context));
afterEach(async () => {
  await site.deployment.stop();
  for (const cluster of [primary, restored]) {
    await cluster?.stop('SIGQUIT');
    cluster?.remove();
  }
});

async function interlude(...words: string[]): Promise<string> {
  const { code, output, errors } = await startCommand(words, site.deployment.environment);
  expect([code, errors]).toEqual([0, '']);
  return output;
}

test(
  'its waiting questions are answered there, their calls are made once, and a later erasure is repeated',
  { timeout: 400_000 },
  async () => {
    await say(site.deployment.client('bob'), 'hello').end();
    const waiting = [
      begin(site.alice, 'rounds', 'book', 'Brest'),
      begin(site.alice, 'rounds', 'plan', 'Metz'),
    ];
    await Promise.all(waiting.map((booking) => booking.card()));
    await site.stopProcesses();
    await site.stopTemporal();
    await primary.stop('SIGINT');
    const backup = path.join(site.deployment.dataDir, 'backup');
    await cp(site.temporalFolder, backup, { recursive: true });
    restored = createCopy(primary, await freePort());

    await primary.start();
    await site.startTemporal();
    await site.startProcesses();
    await interlude('users', 'erase', 'bob', '--tenant', 'demo');
    const erasures = path.join(site.deployment.dataDir, 'erasures.ndjson');
    await writeFile(erasures, await interlude('users', 'erasures'));

    await site.stopProcesses();
    await site.stopTemporal();
    await rm(site.temporalFolder, { recursive: true });
    await primary.stop('SIGQUIT');
    await cp(backup, site.temporalFolder, { recursive: true });
    await restored.start();
    site.deployment.environment['DATABASE_URL'] = urlAt(restored, 'service');
    await site.startTemporal();
    await site.startProcesses();
    expect(await interlude('installation', 'status')).toContain('They belong together.');
    expect(await interlude('users', 'erase', '--again', erasures)).toContain('Repeated 1 of 1 erasures');
    for (const booking of waiting) {
      await booking.answer(3);
      await expectBooked(site.desks, booking, 3);
    }
    expect(site.desks.rounds.done.toSorted()).toEqual(['book Brest for 3', 'plan Metz for 3']);
  },
);
