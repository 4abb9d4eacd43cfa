/**
 * As it runs in production: two APIs behind a load balancer, two workers, PostgreSQL, a Temporal of its own. Any
 * of them is killed, and any other goes on.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import type { Diagnosis } from '../../src/cli/doctor/diagnose.ts';
import { startCommand } from '../cli/start-command.ts';
import { postgresUrl } from '../postgres.ts';
import { query } from '../setup/postgres-server.ts';
import { connectAccount } from '../service/connect-account.ts';
import { readiness } from './processes.ts';
import type { ServiceProcess } from './processes.ts';
import { callsIn, expectOneStory, expectSameForNewcomer, questionsIn, say, textOf } from './watch.ts';
import { createDeployment, showOutput, someKeys } from './deployment.ts';
import type { Deployment } from './deployment.ts';

let deployment: Deployment;
let balancer: TcpProxy;
let database: TcpProxy;
let apiPorts: [number, number];
const apis: ServiceProcess[] = [];
const workers: ServiceProcess[] = [];

const urlOf = (index: number) => `http://127.0.0.1:${apiPorts[index]}`;

beforeAll(async () => {
  const host = '127.0.0.1';
  apiPorts = [await freePort(), await freePort()];
  balancer = await startTcpProxy({ to: () => apiPorts });
  const given = new URL(await postgresUrl());
  const postgresPort = Number(given.port || 5432);
  database = await startTcpProxy({ to: postgresPort });
  given.host = `${host}:${database.port}`;
  const temporalPort = await freePort();
  deployment = await createDeployment({
    port: balancer.port,
    env: {
      DATABASE_URL: given.href,
      TEMPORAL_ADDRESS: `${host}:${temporalPort}`,
      INTERLUDE_KEYS: someKeys,
      LOG_LEVEL: 'info',
    },
  });
  deployment.defer(() => Promise.all([balancer.stop(), database.stop()]));
  await deployment.startTemporal(temporalPort);
});
beforeEach(startTheDead, 60_000);
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

async function startTheDead(): Promise<void> {
  const startDead = async (
    processes: ServiceProcess[],
    index: number,
    start: () => Promise<ServiceProcess>,
  ) => {
    if (processes[index]?.isAlive() !== true) processes[index] = await start();
  };
  await Promise.all(
    [0, 1].flatMap((index) => [
      startDead(apis, index, () => deployment.start('server', { PORT: String(apiPorts[index]) })),
      startDead(workers, index, () => deployment.start('worker')),
    ]),
  );
}

/** The worker that thought for this turn also keeps its workflow. */
function workerOf(turnId: string | null): number {
  return workers.findIndex((worker) => turnId !== null && worker.output().includes(turnId));
}

test(
  'the API that streams and the worker that keeps the turn are killed: the stream goes on at the other API, the turn on the other worker',
  { timeout: 120_000 },
  async () => {
    const alice = deployment.client('alice');
    const turn = say(alice, 'list my open issues');
    const { url, elicitationId } = await turn.question();
    const { turnId } = turn.views[0]!;
    await expect.poll(() => workerOf(turnId)).not.toBe(-1);
    const keeper = workerOf(turnId);

    await Promise.all([apis[0]?.kill('SIGKILL'), workers[keeper]?.kill('SIGKILL')]);
    await vi.waitFor(() => expect(turn.line).toEqual(['reconnecting', 'connected']));
    const other = deployment.client('alice', urlOf(1));
    const { conversationId } = turn.message;
    expect(await other.openElicitations(conversationId)).toMatchObject([
      { elicitationId, status: 'pending' },
    ]);

    await connectAccount('alice', url);
    const receipt = await other.answer({ conversationId, elicitationId, action: 'accept' });
    expect(receipt).toMatchObject({ status: 'accept' });
    const view = await turn.end();
    expect(view.status).toBe('completed');
    expect(questionsIn(view)).toMatchObject([{ status: 'accept' }]);
    expect(callsIn(view)).toEqual(['connect_tracker: done', 'tracker__list_issues: done']);
    await expect.poll(() => workers[1 - keeper]?.output()).toContain(turnId);
    expect(deployment.tracker.calls).toHaveLength(1);
    expectOneStory(turn);
    await expectSameForNewcomer(other, turn);
  },
);

test(
  'no worker lives when the answer is given: it is taken all the same, and the tool runs once when one is back',
  { timeout: 120_000 },
  async () => {
    const executed = deployment.tracker.calls.length;
    const bob = deployment.client('bob');
    const turn = say(bob, 'list my open issues');
    const { url, elicitationId } = await turn.question();
    await Promise.all(workers.map((worker) => worker.kill('SIGKILL')));

    expect((await connectAccount('bob', url)).title).toBe('Tracker is connected');
    const answer = { conversationId: turn.message.conversationId, elicitationId, action: 'accept' } as const;
    expect(await bob.answer(answer)).toMatchObject({ status: 'accept' });
    expect(deployment.tracker.calls).toHaveLength(executed);

    await startTheDead();
    const view = await turn.end();
    expect(view.status).toBe('completed');
    expect(questionsIn(view)).toMatchObject([{ status: 'accept' }]);
    expect(deployment.tracker.calls).toHaveLength(executed + 1);
    expect(await bob.answer(answer)).toMatchObject({ status: 'accept', duplicate: true });
    expectOneStory(turn);
  },
);

test('the doctor finds nothing wrong, and the audit of what was done is sealed', async () => {
  const { environment } = deployment;
  const { output } = await startCommand(['doctor', '--json'], environment);
  const { areas, deploy } = JSON.parse(output) as Diagnosis;
  // Some servers of the agents file do not run in these tests.
  const found = areas.filter(
    ({ name, findings }) => name !== 'agents' && findings.some((one) => one.level !== 'ok'),
  );
  expect(found).toEqual([]);
  expect(deploy?.effects[0]).toMatch(/^New turns start with version .*, as now\.$/);
  const url = environment['DATABASE_URL'] ?? '';
  const counts = () =>
    query(url, 'select count(*) > 0 as some, count(*) = count(position) as all from audit');
  await expect.poll(counts).toEqual([{ some: true, all: true }]);
});

test(
  'the database goes away and comes back: requests are told so, an open stream holds, and nothing is left half-started',
  { timeout: 120_000 },
  async () => {
    deployment.tracker.revoke('bob');
    const bob = deployment.client('bob');
    const turn = say(bob, 'list my open issues');
    const { url } = await turn.question();

    database.refuse();
    database.cut();
    await vi.waitFor(async () => {
      expect(await readiness(urlOf(0))).toBe(503);
      expect(await readiness(urlOf(1))).toBe(503);
    }, 10_000);
    const caller = await deployment.caller('bob');
    const conversation = randomUUID();
    const message = { id: randomUUID(), text: 'hello' };
    const refused = await caller.request('POST', '/run/api/chat', {
      id: conversation,
      messages: [{ id: message.id, role: 'user', parts: [{ type: 'text', text: message.text }] }],
    });
    expect(refused).toMatchObject({ status: 503, body: { code: 'unavailable' } });
    expect(refused.body['detail']).toContain('The database cannot be reached');

    database.accept();
    await vi.waitFor(async () => {
      expect(await readiness(urlOf(0))).toBe(200);
      expect(await readiness(urlOf(1))).toBe(200);
    }, 20_000);
    expect(await caller.request('GET', `/run/api/chat/${conversation}/stream`)).toMatchObject({
      status: 204,
    });
    const again = say(bob, '', { conversationId: conversation, message });
    expect(textOf(await again.end())).toBe('You said: hello');

    await connectAccount('bob', url);
    expect(await turn.end()).toMatchObject({ status: 'completed' });
    expect(turn.line).toEqual([]);
    expectOneStory(turn);
  },
);
