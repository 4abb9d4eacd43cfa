/** Faults planted in an installation that runs. `interlude doctor` names each of them within two minutes, with what to do. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/cli/doctor/diagnose.ts';
import { problems } from '../../src/cli/doctor/findings.ts';
import type { Code } from '../../src/cli/doctor/findings.ts';
import { generateKey } from '../../src/credentials/sealing/key-ring.ts';
import { startCommand } from '../cli/start-command.ts';
import { showOutput } from '../e2e/deployment.ts';
import { freePort } from '../free-port.ts';
import { startSite } from '../platform/installation/site.ts';
import type { Site } from '../platform/installation/site.ts';
import { createCluster, query } from '../setup/postgres-server.ts';
import type { Cluster } from '../setup/postgres-server.ts';
import { shiftedClock } from '../shifted-clock.ts';

const twoMinutes = 120_000;

let site: Site;
let cluster: Cluster;
let url: string;

beforeAll(async () => {
  cluster = createCluster({ port: await freePort() });
  await cluster.start();
  const at = (name: string) => `postgres://interlude@127.0.0.1:${cluster.port}/${name}`;
  await query(at('postgres'), 'create database service');
  url = at('service');
  site = await startSite({ database: url });
  // Of the tests' surroundings; this agents file does not name it.
  delete site.deployment.environment['TRACKER_URL'];
}, 90_000);
afterEach((context) => showOutput(() => site.deployment)(context));
afterAll(async () => {
  await site.deployment.stop();
  await cluster.stop('SIGQUIT');
  cluster.remove();
});

async function problemsNow(changes: Record<string, string> = {}) {
  const { output } = await startCommand(['doctor', '--json'], { ...site.deployment.environment, ...changes });
  const { areas } = JSON.parse(output) as Diagnosis;
  return areas.flatMap(({ findings }) => findings.filter((finding) => finding.level !== 'ok'));
}

async function connected(count: number): Promise<Client[]> {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  return clients;
}

/** Where PostgreSQL writes what does not fit into memory, on a disk of 64 KiB. False where disks may not be mounted. */
const temporaryFiles = () => path.join(cluster.data, 'base/pgsql_tmp');
function mountSmallDisk(): boolean {
  mkdirSync(temporaryFiles(), { recursive: true });
  const options = ['-t', 'tmpfs', '-o', 'size=64k,mode=777', 'tmpfs', temporaryFiles()];
  return spawnSync('/bin/mount', options).status === 0;
}

const unused = async () => `http://127.0.0.1:${await freePort()}`;
const processAt = (place: 0 | 1) => site.processes[place];

interface Fault {
  name: string;
  code: Code;
  /** The environment of the command, where that is what is wrong. */
  plant: () => Promise<Record<string, string> | void>;
  mend?: () => Promise<unknown>;
}

let clients: Client[] = [];
const closeClients = async () => {
  await Promise.all(clients.map((client) => client.end()));
  clients = [];
};

const faults: Fault[] = [
  { name: 'a variable is misspelt', code: 'settings-unread', plant: async () => ({ INTERLUDE_KEYZ: 'k1' }) },
  {
    name: 'the encryption key is another one',
    code: 'keys-wrong',
    plant: async () => ({ INTERLUDE_KEYS: generateKey('k1') }),
  },
  { name: 'a clock is a minute slow', code: 'clock-differs', plant: async () => shiftedClock(-60_000) },
  {
    name: 'the issuer does not answer',
    code: 'issuer-away',
    plant: async () => ({ AUTH_ISSUER: await unused() }),
  },
  {
    name: 'the client secret of the sign-in is an old one',
    code: 'issuer-client',
    plant: async () => ({ AUTH_CLIENT_SECRET: 'old' }),
  },
  {
    name: 'a transaction is forgotten, and another session waits for its locks',
    code: 'database-locks',
    async plant() {
      clients = await connected(2);
      await clients[0]?.query('begin; lock table turns');
      void clients[1]?.query('select count(*) from turns').catch(() => undefined);
    },
    async mend() {
      await clients[0]?.query('rollback');
      await closeClients();
    },
  },
  {
    name: 'the connections of the database are used up',
    code: 'database-connections',
    async plant() {
      clients = await connected(245);
    },
    mend: closeClients,
  },
  {
    name: 'an MCP server is away',
    code: 'server-away',
    plant: () => site.desks.streams.stop(),
  },
  {
    name: 'the API is killed',
    code: 'address-unanswered',
    async plant() {
      await processAt(1)?.kill('SIGKILL');
    },
    mend: () => site.deployment.start('server'),
  },
  {
    name: 'Temporal is away',
    code: 'temporal-away',
    plant: () => site.stopTemporal(),
    mend: () => site.startTemporal(),
  },
  {
    name: 'the database is away',
    code: 'database-away',
    plant: () => cluster.stop('SIGQUIT'),
    mend: () => cluster.start(),
  },
  {
    name: 'the only worker is killed',
    code: 'workers',
    async plant() {
      await processAt(0)?.kill('SIGKILL');
    },
  },
  {
    name: 'Temporal has lost its data',
    code: 'installation-apart',
    async plant() {
      await site.stopTemporal();
      await rm(site.temporalFolder, { recursive: true });
      await site.startTemporal();
    },
  },
];

test('without a fault there is no finding', { timeout: 60_000 }, async () => {
  expect(await problemsNow()).toEqual([]);
});

test("the database's disk is full: database-full", { timeout: 60_000 }, async ({ skip }) => {
  if (!mountSmallDisk()) return skip('only an administrator mounts a disk');
  try {
    const problem = { code: 'database-full', level: 'error', text: 'its disk is full' };
    expect(await problemsNow()).toMatchObject([problem]);
  } finally {
    spawnSync('/bin/umount', [temporaryFiles()]);
  }
});

test.each(faults)('$name: $code', { timeout: twoMinutes + 60_000 }, async ({ code, plant, mend }) => {
  const changes = (await plant()) ?? {};
  const found = async () =>
    (await problemsNow(changes)).find((finding) => 'code' in finding && finding.code === code);
  try {
    await expect
      .poll(found, { timeout: twoMinutes })
      .toMatchObject({ level: problems[code].level, remedy: expect.stringMatching(/\w{3}/) });
  } finally {
    await mend?.();
  }
});
