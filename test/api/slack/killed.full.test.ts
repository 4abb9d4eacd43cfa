/**
 * Two APIs that Slack reaches alike: a thousand events at once, each sent to both, and an event whose process is killed
 * with -9 between the 200 and the turn, or between the turn and its delivery. PostgreSQL, a Temporal of its own, processes of their own.
 */
import { Client, Connection } from '@temporalio/client';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { openPostgres } from '../../../src/storage/postgres/open-postgres.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import type { ThreadKey } from '../../../src/storage/tables/slack.ts';
import { slackDeliveryWorkflowId } from '../../../src/workflows/messages.ts';
import { showOutput } from '../../e2e/deployment.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import type { ServiceProcess } from '../../e2e/processes.ts';
import { freePort } from '../../free-port.ts';
import { MethodHttp } from '../../servers/slack/methods.ts';
import type { Method } from '../../servers/slack/methods.ts';
import type { SlackServer } from '../../servers/slack/slack-server.ts';
import type { Workspace } from '../../servers/slack/slack-state.ts';
import { startTcpProxy } from '../../servers/tcp-proxy.ts';
import { linkAlice } from './alice-in-slack.ts';
import { createSlackDeployment } from './slack-deployment.ts';
import type { SlackDeployment } from './slack-deployment.ts';

/** Holds an API still between the start of a turn and the start of its delivery: its table is locked. */
interface HeldTable {
  /** Ends whatever waits for it: the calls of a process that was killed are not carried out after its death. */
  endWaiting(): Promise<void>;
  release(): Promise<void>;
}

async function holdDeliveries(databaseUrl: string): Promise<HeldTable> {
  const { query, close } = openPostgres(databaseUrl, pino({ level: 'silent' }));
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const holding = query.transaction().execute(async (transaction) => {
    await sql`lock table slack_deliveries in access exclusive mode`.execute(transaction);
    held.resolve();
    await released.promise;
  });
  await Promise.race([held.promise, holding]);
  return {
    async endWaiting() {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(query);
    },
    async release() {
      released.resolve();
      await holding;
      await close();
    },
  };
}

let setup: SlackDeployment;
let deployment: Deployment;
let slack: SlackServer;
let acme: Workspace;
let storage: Storage;
let here: ServiceProcess;
let there: ServiceProcess;
let other: { PORT: string; PUBLIC_URL: string };

beforeAll(async () => {
  setup = await createSlackDeployment();
  ({ deployment, slack, acme, storage } = setup);
  const port = String(await freePort());
  other = { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` };
  [here, there] = await Promise.all([
    deployment.start('server'),
    deployment.start('server', other),
    deployment.start('worker'),
  ]);
});
afterAll(() => deployment.stop());
afterEach(showOutput(() => deployment));

const urls = () => [deployment.baseUrl, other.PUBLIC_URL].map((base) => `${base}/slack/events`);

test(
  'a thousand events at once are acknowledged by either API, and each is handled once, also those that come again',
  { timeout: 120_000 },
  async () => {
    await expect.poll(() => storage.slack.installations.get('T1')).not.toBeNull();
    // A channel for each of them, without a reader.
    const posting = slack.methods.get('chat.postMessage') as Method;
    slack.methods.set('chat.postMessage', () => ({ ts: slack.nextTs() }));
    const users = Array.from({ length: 1_000 }, (_, index) => acme.addUser(`U${index}`).id);
    const event = (user: string) => ({
      type: 'message',
      channel: `D${user}`,
      channel_type: 'im',
      user,
      text: 'hello',
      ts: '1700000000.000001',
    });
    const sent = await Promise.all(
      users.map((user, index) => {
        const url = urls()[index % 2] ?? '';
        return slack.sendEvent(url, event(user), { team: 'T1', eventId: `Ev${user}` });
      }),
    );
    expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]));
    const again = users.slice(0, 200).map((user, index) => {
      const url = urls()[(index + 1) % 2] ?? '';
      return slack.sendEvent(url, event(user), { team: 'T1', eventId: `Ev${user}`, retry: 1 });
    });
    await Promise.all(again);
    const offers = await slack.until(({ method }) => method === 'chat.postMessage', users.length);
    const offered = () => offers.map(({ args }) => String(args['channel']));
    expect(new Set(offered()).size).toBe(users.length);
    // One that comes last is behind everything: nothing else was said.
    acme.addUser('UG', { isGuest: true });
    await slack.sendEvent(urls()[0] ?? '', { ...event('UG'), channel: 'DUG' }, { team: 'T1' });
    await slack.until(({ args }) => args['channel'] === 'DUG');
    expect(slack.calls.filter(({ method }) => method === 'chat.postMessage')).toHaveLength(users.length + 1);
    slack.methods.set('chat.postMessage', posting);
  },
);

test(
  'an API is killed after it has acknowledged a message, and another one makes it a turn, once',
  { timeout: 120_000 },
  async () => {
    await linkAlice(storage.slack);
    const asked = Promise.withResolvers<void>();
    const answering = slack.methods.get('users.info') as Method;
    // Slack is asked for a name, and does not answer while this API lives.
    slack.methods.set('users.info', async () => {
      asked.resolve();
      await new Promise(() => undefined);
      return new MethodHttp(500);
    });
    // So that the event is with the one that is killed.
    await there.kill('SIGKILL');
    const message = {
      type: 'app_mention',
      channel: 'C1',
      user: 'U1',
      text: `<@${acme.botUser}> greet <@U2>`,
      ts: '1700000001.000001',
    };
    const sent = await slack.sendEvent(urls()[0] ?? '', message, { team: 'T1', eventId: 'EvKilled' });
    expect(sent.status).toBe(200);
    await asked.promise;
    await here.kill('SIGKILL');
    slack.methods.set('users.info', answering);
    here = await deployment.start('server', other);
    // Slack never heard of the crash, or sends it again: it is the same.
    await slack.sendEvent(urls()[1] ?? '', message, { team: 'T1', eventId: 'EvKilled', retry: 1 });
    const thread = { team: 'T1', channel: 'C1', threadTs: '1700000001.000001', slackUser: 'U1' };
    const texts = async () => {
      const known = await storage.slack.threads.get(thread);
      const messages = known ? await storage.messages.list(known) : [];
      return messages.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
    };
    await expect.poll(texts, { timeout: 40_000 }).toEqual([expect.stringContaining('greet @u2')]);
  },
);

/** Its turn is over, and the API that began it waits to say where its answer is to be shown. */
async function untilTurnEnded(thread: ThreadKey): Promise<string> {
  const ended = async () => {
    const known = await storage.slack.threads.get(thread);
    const log = known ? await storage.turnLog.read(known, 0) : [];
    return log.filter(({ event }) => event.type === 'turn-ended').map(({ turnId }) => turnId);
  };
  await expect.poll(async () => (await ended()).length).toBe(1);
  return (await ended())[0] ?? '';
}

test.each([
  { stage: 'no row of its delivery', channel: 'D10', hasRow: false },
  { stage: 'a row of its delivery, and no workflow', channel: 'D11', hasRow: true },
])(
  'an API is killed when a turn has begun and there is $stage: its answer is in the thread, once',
  { timeout: 240_000 },
  async ({ channel, hasRow }) => {
    await linkAlice(storage.slack);
    const connection = await Connection.connect({ address: setup.temporalAddress });
    const temporal = new Client({ connection });
    await using line = await startLine(Number(setup.temporalAddress.split(':')[1]));
    // So that the event is with the one that is killed.
    await Promise.all([here, there].map((api) => api.kill('SIGKILL')));
    here = await deployment.start('server', { ...other, TEMPORAL_ADDRESS: `127.0.0.1:${line.proxy.port}` });
    const table = await holdDeliveries(deployment.environment['DATABASE_URL'] ?? '');
    const ts = slack.nextTs();
    const message = { type: 'message', channel, channel_type: 'im', user: 'U1', text: 'hello', ts };
    expect((await slack.sendEvent(urls()[1] ?? '', message, { team: 'T1' })).status).toBe(200);
    const thread = { team: 'T1', channel, threadTs: ts, slackUser: 'U1' };
    const turnId = await untilTurnEnded(thread);
    if (hasRow) {
      line.proxy.refuse();
      line.proxy.cut();
      await table.release();
      await untilBegun(turnId);
    }
    await here.kill('SIGKILL');
    if (!hasRow) {
      await table.endWaiting();
      await table.release();
    }
    expect((await storage.slack.deliveries.get(turnId)) !== null).toBe(hasRow);
    const delivery = temporal.workflow.getHandle(slackDeliveryWorkflowId(turnId));
    await expect(delivery.describe()).rejects.toThrow('not found');

    here = await deployment.start('server', other);
    const answers = () => setup.chat.texts(channel, ts);
    await expect.poll(answers, { timeout: 60_000 }).toEqual(['You said: hello']);
    expect(await delivery.result()).toEqual({ status: 'delivered' });
    expect(answers()).toEqual(['You said: hello']);
    // One turn, and not another one for the message that was taken again.
    await untilTurnEnded(thread);
    await connection.close();
  },
);

/** Its delivery has a row. */
function untilBegun(turnId: string): Promise<void> {
  return vi.waitFor(
    async () => {
      if (!(await storage.slack.deliveries.get(turnId))) throw new Error('not begun');
    },
    { timeout: 20_000 },
  );
}

async function startLine(to: number) {
  const proxy = await startTcpProxy({ to });
  return { proxy, [Symbol.asyncDispose]: () => proxy.stop() };
}
