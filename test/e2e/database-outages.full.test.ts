/**
 * The database refuses the login of a worker, or cannot be reached by it, while turns wait: answers are accepted all the same,
 * nothing is lost, and they take effect as soon as the worker gets in again, without a restart.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';
import type { ServiceProcess } from './processes.ts';
import { questionsIn, say, workflowIdOf } from './watch.ts';

const role = `rotated_${randomBytes(4).toString('hex')}`;
let deployment: Deployment;
let temporal: Client;
let operator: pg.Client;
/** Between the worker and the database. */
let line: TcpProxy;
let workerUrlFile: string;
let workerInternal: number;
let worker: ServiceProcess | undefined;
/** Of the database's user, as it is now. */
let password = 'first';

const urlFor = (password: string, port: number) => {
  const url = new URL(`postgres://127.0.0.1/${operator.database}`);
  Object.assign(url, { username: role, password, port: String(port) });
  return url.href;
};
const give = (password: string) => writeFileSync(workerUrlFile, `${urlFor(password, line.port)}\n`);
const startApi = (password: string) =>
  deployment.start('server', { DATABASE_URL: urlFor(password, operator.port) });
const workerEnvironment = () => ({
  DATABASE_URL_FILE: workerUrlFile,
  INTERNAL_PORT: String(workerInternal),
});

async function workerReadiness(): Promise<[number, unknown]> {
  const response = await fetch(`http://127.0.0.1:${workerInternal}/readyz`);
  return [response.status, await response.json()];
}
const untilWorkerIs = (status: number, body: object, timeout = 20_000) =>
  expect.poll(workerReadiness, { timeout, interval: 100 }).toMatchObject([status, body]);
const deployed = () => operator.query('select build_id from deployed_versions');
const refused = {
  notReady: [{ name: 'database', detail: expect.stringContaining('refuses the login (28P01)') }],
};

beforeAll(async () => {
  operator = new pg.Client(await postgresUrl());
  await operator.connect();
  await operator.query(`create role ${role} login password 'first'`);
  await operator.query(`alter schema public owner to ${role}`);
  line = await startTcpProxy({ to: operator.port });
  workerInternal = await freePort();
  const temporalPort = await freePort();
  deployment = await createDeployment({
    env: {
      TEMPORAL_ADDRESS: `127.0.0.1:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
      LOG_LEVEL: 'info',
    },
  });
  deployment.defer(() => line.stop());
  workerUrlFile = path.join(deployment.dataDir, 'database-url');
  give('first');
  const temporalServer = await deployment.startTemporal(temporalPort);
  const connection = await Connection.connect({ address: temporalServer.address });
  deployment.defer(() => connection.close());
  temporal = new Client({ connection, namespace: 'default' });
});
afterAll(async () => {
  await deployment.stop();
  await operator.query(`drop owned by ${role}`);
  await operator.end();
});
afterEach(showOutput(() => deployment));

async function waitingTurns(count: number) {
  const alice = deployment.client('alice');
  const turns = Array.from({ length: count }, () => say(alice, 'list my open issues'));
  const asked = await Promise.all(turns.map((turn) => turn.question()));
  const answerAll = () =>
    Promise.all(
      turns.map(({ message }, index) =>
        alice.answer({
          conversationId: message.conversationId,
          elicitationId: asked[index]?.elicitationId ?? '',
          action: 'decline',
        }),
      ),
    );
  const expectAllDeclined = async () => {
    for (const turn of turns) {
      const view = await turn.end();
      expect(view.status).toBe('completed');
      expect(questionsIn(view)).toMatchObject([{ status: 'decline' }]);
    }
  };
  return { answerAll, expectAllDeclined, workflowIds: () => turns.map(workflowIdOf) };
}
type Waiting = Awaited<ReturnType<typeof waitingTurns>>;

/** As an operator does it, who also ends the sessions that know the password of before. */
async function rotate(to: string): Promise<void> {
  password = to;
  await operator.query(`alter role ${role} password '${password}'`);
  await operator.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
}

/** The call has used up the attempts of one activity, so a mistake would have ended it. */
async function untilTriedOften({ workflowIds }: Pick<Waiting, 'workflowIds'>): Promise<void> {
  const [workflowId = ''] = workflowIds();
  await vi.waitFor(
    async () => {
      const { events } = await temporal.workflow.getHandle(workflowId).fetchHistory();
      expect(events?.some((event) => event.activityTaskFailedEventAttributes)).toBe(true);
    },
    { timeout: 90_000, interval: 500 },
  );
}

test.runIf(inject('suite') === 'release')(
  'the password is rotated, and the worker has the old one: six answers are accepted, and take effect once its file has the new one',
  { timeout: 180_000 },
  async () => {
    let api;
    [api, worker] = await Promise.all([startApi('first'), deployment.start('worker', workerEnvironment())]);
    await untilWorkerIs(200, { status: 'ready' });
    const turns = await waitingTurns(6);

    await rotate('second');
    await api.kill('SIGTERM');
    await startApi('second');
    await untilWorkerIs(503, refused);
    const receipts = await turns.answerAll();
    expect(receipts.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'decline'));
    await untilTriedOften(turns);
    expect(worker?.output()).not.toMatch(/"level":50/);

    give('second');
    await turns.expectAllDeclined();
    await untilWorkerIs(200, { status: 'ready' });
  },
);

test(
  'a worker whose login is refused at start waits, says so once, stops when it is told to, and is ready once new turns start with its version',
  { timeout: 120_000 },
  async () => {
    await worker?.kill('SIGTERM');
    give('wrong');
    const stopped = deployment.spawn('worker', workerEnvironment());
    await untilWorkerIs(503, refused, 40_000);
    expect(await stopped.kill('SIGTERM')).toEqual({ code: 0, signal: null });

    const again = deployment.spawn('worker', workerEnvironment());
    worker = again;
    await untilWorkerIs(503, refused, 40_000);
    expect((await fetch(`http://127.0.0.1:${workerInternal}/healthz`)).status).toBe(200);
    await vi.waitFor(() => expect(again.output()).toContain('waiting: the database refuses the login'));
    give(password);
    await untilWorkerIs(200, { status: 'ready' }, 40_000);
    expect((await deployed()).rows).toHaveLength(1);
    expect(again.output().match(/waiting: the database refuses the login/g)).toHaveLength(1);
  },
);

test(
  'a worker whose version older processes cannot run is ready before it is current, so that a rolling update stops them',
  { timeout: 120_000 },
  async () => {
    await worker?.kill('SIGTERM');
    await operator.query('delete from deployed_versions');
    await operator.query(
      `insert into processes (id, deployment, kind, oldest_contract, newest_contract, lease_until)
       values ('older', 'interlude', 'api', 0, 0, $1)`,
      [Date.now() + 600_000],
    );
    worker = deployment.spawn('worker', workerEnvironment());
    const waits = { name: 'versions', detail: expect.stringContaining('1 running process(es) of an older') };
    await untilWorkerIs(200, { warnings: [waits] }, 40_000);
    expect((await deployed()).rows).toEqual([]);
    await operator.query("delete from processes where id = 'older'");
    await untilWorkerIs(200, { warnings: [] });
    expect((await deployed()).rows).toHaveLength(1);
  },
);

test.runIf(inject('suite') === 'release')(
  'the database is away from the worker for a minute while answers arrive: all of them take effect',
  { timeout: 180_000 },
  async () => {
    const turns = await waitingTurns(6);
    line.refuse();
    line.cut();
    await untilWorkerIs(503, { notReady: [{ name: 'database' }] });
    const receipts = await turns.answerAll();
    expect(receipts.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'decline'));
    await sleep(60_000);
    line.accept();
    await turns.expectAllDeclined();
    await untilWorkerIs(200, { status: 'ready' });
  },
);
