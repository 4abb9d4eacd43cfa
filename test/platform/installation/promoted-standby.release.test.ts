/**
 * The primary of the database is lost, and a standby takes its place that has not received the last commits: what was
 * accepted after them is gone, and Temporal and other servers are ahead of the database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { turnWorkflowId } from '../../../src/workflows/messages.ts';
import { rowsOf } from '../../copy-database.ts';
import { begin, doneFor } from '../../e2e/bookings.ts';
import type { Booking } from '../../e2e/bookings.ts';
import { showOutput } from '../../e2e/deployment.ts';
import { readiness } from '../../e2e/processes.ts';
import { say, textOf } from '../../e2e/watch.ts';
import { freePort } from '../../free-port.ts';
import { kinds } from '../../servers/booking-server.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { nthQuestion } from '../../service/asking.ts';
import type { Caller } from '../../service/user.ts';
import { createCluster, createStandby, replicationRule, query } from '../../setup/postgres-server.ts';
import { Client as TemporalClient, Connection } from '@temporalio/client';
import { notTogether, startSite } from './site.ts';
import type { Site } from './site.ts';

const name = 'interlude_service';
const urlAt = (port: number, database = name) => `postgres://interlude@127.0.0.1:${port}/${database}`;

let stack: AsyncDisposableStack;
let site: Site;
let alice: Caller;
let workflows: TemporalClient['workflow'];
let primary: ReturnType<typeof createCluster>;
let standby: ReturnType<typeof createCluster>;
/** Resolves when the standby has received all that is committed by then; it receives nothing more. */
let disconnectStandby: () => Promise<void>;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  primary = createCluster({ port: await freePort(), rules: [replicationRule] });
  stack.defer(() => primary.remove());
  await primary.start();
  await query(urlAt(primary.port, 'postgres'), `create database ${name}`);
  await primary.stop('SIGINT');
  const replication = await startTcpProxy({ to: primary.port });
  stack.defer(() => replication.stop());
  standby = createStandby(primary, { port: await freePort(), primaryPort: replication.port });
  stack.defer(() => standby.remove());
  await primary.start();
  stack.defer(() => primary.stop('SIGQUIT'));
  await standby.start();
  stack.defer(() => standby.stop('SIGQUIT'));
  disconnectStandby = async () => {
    const [at] = await query(urlAt(primary.port), 'select pg_current_wal_lsn()::text as lsn');
    await vi.waitFor(async () => {
      const has = 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as all';
      const [received] = await query(urlAt(standby.port), has, [at?.['lsn']]);
      if (received?.['all'] !== true) throw new Error('The standby has not received all of it yet.');
    }, 20_000);
    replication.refuse();
    replication.cut();
  };
  // As an address that leads to the server that is alive.
  const database = await startTcpProxy({ to: () => [primary.port, standby.port] });
  stack.defer(() => database.stop());
  site = await startSite({ database: urlAt(database.port), env: { ELICITATION_TIMEOUT: '90s' } });
  stack.defer(() => site.deployment.stop());
  alice = await site.deployment.caller('alice');
  const connection = await Connection.connect({
    address: site.deployment.environment['TEMPORAL_ADDRESS'] ?? '',
  });
  stack.defer(() => connection.close());
  workflows = new TemporalClient({ connection, namespace: 'default' }).workflow;
}, 180_000);
afterEach((context) => showOutput(() => site.deployment)(context));
afterEach(() => stack.disposeAsync());

async function promote(): Promise<void> {
  await query(urlAt(standby.port, 'postgres'), 'select pg_promote()');
}

const book = (city: string) => begin(site.alice, 'rounds', 'book', city);
const done = (city: string) => doneFor(site.desks.rounds, city);
const conversationOf = ({ turn }: Booking) => turn.message.conversationId;

/** Without a client of ours, which would send the message again. Its reader has left. */
async function beginUnwatched(city: string) {
  const conversation = randomUUID();
  const stream = await alice.chat(`call rounds__book {"city":"${city}"}`, { conversation });
  await nthQuestion(stream, 0);
  stream.close();
  return {
    conversation,
    workflowId: turnWorkflowId({ tenant: 'demo', conversation, turnId: stream.turnId }),
  };
}

async function turnOf(booking: Booking): Promise<Record<string, unknown> | undefined> {
  const columns = 'turns.status as turn, elicitations.status as question, is_unused as unused';
  const [row] = await query(
    urlAt(standby.port),
    `select ${columns} from turns join elicitations on elicitations.turn_id = turns.turn_id
      where turns.conversation = $1`,
    [conversationOf(booking)],
  );
  return row;
}

async function expectAnotherMessage(conversationId: string): Promise<void> {
  const view = await say(site.alice, 'hello', { conversationId }).end();
  expect({ view, text: textOf(view) }).toMatchObject({
    view: { status: 'completed' },
    text: expect.stringContaining('You said: hello'),
  });
}

test(
  'within one generation, turns go on or end, and nothing is done twice',
  { timeout: 400_000 },
  async () => {
    const [waiting, answered, underWay, returning] = ['Brest', 'Nantes', 'Rennes', 'Vannes'].map(book);
    if (!waiting || !answered || !underWay || !returning) throw new Error('there are four');
    const all = [waiting, answered, underWay, returning];
    const cards = await Promise.all(all.map((booking) => booking.card()));
    await disconnectStandby();

    // All of this is lost.
    await answered.answer(1);
    expect(await answered.end()).toMatchObject({ said: 'book: Nantes for 1' });
    const unknown = await beginUnwatched('Quimper');
    const over = say(site.alice, 'hello');
    await over.end();
    const stops = [underWay, returning].map(({ city }) => site.desks.rounds.stopAt(city, 'after'));
    await underWay.answer(2);
    await returning.answer(3);
    await Promise.all(stops.map(({ arrived }) => arrived));

    await primary.stop('SIGQUIT');
    // Its result comes while no database answers.
    stops[1]?.release();
    const worker = site.processes[0];
    await vi.waitFor(() => expect(done('Vannes')).toHaveLength(1));
    await vi.waitFor(() => expect(worker?.output()).toContain('lost an idle database connection'));
    await promote();
    await vi.waitFor(async () => expect(await readiness(site.deployment.baseUrl)).toBe(200), 60_000);
    stops[0]?.release();

    await waiting.answer(4);
    expect(await waiting.end()).toMatchObject({ status: 'completed', said: 'book: Brest for 4' });
    // Its question is open again, and the workflow that it belongs to is over.
    const { elicitationId } = cards[all.indexOf(answered)] ?? { elicitationId: '' };
    const again = { conversationId: conversationOf(answered), elicitationId };
    const { status } = await alice.answer({ ...again, action: 'accept', content: { nights: 5 } });
    expect([200, 410]).toContain(status);
    const ended = { timeout: 60_000 };
    const failed = {
      turn: 'failed',
      ...(status === 200 ? { question: 'accept', unused: 1 } : { question: 'cancel', unused: 0 }),
    };
    await vi.waitFor(async () => expect(await turnOf(answered)).toEqual(failed), ended);
    for (const booking of [underWay, returning])
      await vi.waitFor(async () => expect((await turnOf(booking))?.['turn']).toBe('completed'), ended);
    expect(done('Brest')).toEqual(['book Brest for 4']);
    expect(done('Nantes')).toEqual(['book Nantes for 1']);
    expect(done('Rennes')).toEqual(['book Rennes for 2']);
    expect(done('Vannes')).toEqual(['book Vannes for 3']);
    expect(done('Quimper')).toEqual([]);

    // Its rows are gone: its workflow ends when its question would have.
    expect(await workflows.getHandle(unknown.workflowId).result()).toEqual({ status: 'failed' });
    for (const booking of all) await expectAnotherMessage(conversationOf(booking));
    for (const lost of [unknown.conversation, over.message.conversationId]) await expectAnotherMessage(lost);
    expect(site.processes.every((each) => each.isAlive())).toBe(true);
    expect((await site.command('status')).code).toBe(0);
  },
);

test(
  'more than one generation back, nothing is touched until an operator has decided, and then each turn ends',
  { timeout: 400_000 },
  async () => {
    const [waiting, answered] = [book('Brest'), book('Nantes')];
    const cards = await Promise.all([waiting.card(), answered.card()]);
    await disconnectStandby();
    await answered.answer(1);
    expect(await answered.end()).toMatchObject({ said: 'book: Nantes for 1' });
    const unknown = await beginUnwatched('Quimper');
    await site.advance(2);
    await primary.stop('SIGQUIT');
    await promote();

    for (const each of site.processes) expect(await each.ended).toMatchObject({ code: 1 });
    await site.startWaiting();
    const tables = [
      'turns',
      'turn_events',
      'elicitations',
      'tool_calls',
      'tool_call_rounds',
      'messages',
      'outbox',
    ];
    const requests = () => kinds.map((kind) => site.desks[kind].requests.length);
    const events = async () => (await workflows.getHandle(unknown.workflowId).describe()).historyLength;
    const stateOf = async () => ({
      rows: await rowsOf(urlAt(standby.port), tables),
      requests: requests(),
      events: await events(),
    });
    const before = await stateOf();
    const refused = await alice.answer({
      conversationId: conversationOf(waiting),
      elicitationId: cards[0].elicitationId,
      action: 'accept',
      content: { nights: 4 },
    });
    expect(refused.status).toBe(503);
    // Several rounds of every loop.
    await sleep(8_000);
    expect(await stateOf()).toEqual(before);
    for (const each of site.processes) expect(each.output()).toMatch(notTogether);

    expect(await site.command('adopt', '--turns', 'restart', '--take-over')).toMatchObject({
      code: 0,
      // Until its processes had noticed, a turn whose workflow is over may have been ended.
      output: expect.stringMatching(/Turns ended: [12]\. Begun again: 0\. Terminated at Temporal: [23]\./),
    });
    await vi.waitFor(async () => expect(await readiness(site.deployment.baseUrl)).toBe(200), 60_000);
    for (const booking of [waiting, answered]) {
      expect(await turnOf(booking)).toEqual({ turn: 'failed', question: 'cancel', unused: 0 });
      await expectAnotherMessage(conversationOf(booking));
    }
    await expect(workflows.getHandle(unknown.workflowId).result()).rejects.toThrow(
      'does not know what this turn did',
    );
    await expectAnotherMessage(unknown.conversation);
    expect(['Brest', 'Nantes', 'Quimper'].map(done)).toEqual([[], ['book Nantes for 1'], []]);
  },
);
