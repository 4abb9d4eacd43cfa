/** `interlude doctor` on an installation in order, and with each of many faults planted in it. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { demoLoginClient } from '../../../demo/identity.ts';
import { diagnose } from '../../../src/cli/doctor/diagnose.ts';
import type { Diagnosis } from '../../../src/cli/doctor/diagnose.ts';
import { proveKeys } from '../../../src/credentials/sealing/key-proofs.ts';
import { parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { openInstallation } from '../../../src/platform/installation/installation.ts';
import { loadConfig } from '../../../src/platform/config/load-config.ts';
import { openToolBundle } from '../../../src/platform/tool-bundles/open-tool-bundle.ts';
import { openStorage } from '../../../src/storage/open-storage.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { contract } from '../../../src/workflows/contract.ts';
import { toolQueueName } from '../../../src/workflows/messages.ts';
import { freePort } from '../../free-port.ts';
import { findPgBouncer, startPgBouncer } from '../../pgbouncer.ts';
import { postgresUrl } from '../../postgres.ts';
import { answer, startRawMcpServer } from '../../servers/raw-mcp-server.ts';
import { sendJson, serve } from '../../servers/serve.ts';
import { startIdentity } from '../../service/identity.ts';
import { useDevelopmentServer } from '../../service/use-development-server.ts';
import { query } from '../../setup/postgres-server.ts';
import { shiftedClock } from '../../shifted-clock.ts';
import { keptStep, newTurn, refuseWhileBusy } from '../../storage/contract/fixtures.ts';
import { ask, beginTurn } from '../../api/api-under-test.ts';
import { testFolder } from '../../test-folder.ts';
import { startCommand } from '../start-command.ts';

const temporal = useDevelopmentServer();
const found = await findPgBouncer();
const stack = new AsyncDisposableStack();
let env: Record<string, string>;
let storage: Storage;
let shopUrl: string;
const keys = `k1:${randomBytes(32).toString('base64')}`;

beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-doctor-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const url = await postgresUrl();
  storage = await openStorage({ kind: 'postgres', url });
  stack.defer(() => storage.close());
  await proveKeys(storage, parseKeys(keys));
  const page = { tools: [{ name: 'list', inputSchema: { type: 'object' } }] };
  const shop = await startRawMcpServer({
    era: 'legacy',
    on: { 'tools/list': (message, response) => answer(message, response, page) },
  });
  stack.defer(() => shop.stop());
  shopUrl = shop.config.url;
  const identity = await startIdentity({
    port: await freePort(),
    dataDir: path.join(folder, 'identity'),
    redirectUris: ['http://127.0.0.1/auth/login/callback'],
  });
  stack.defer(() => identity.stop());
  const front = await serve(({ response }) => sendJson(response, { status: 'ready', warnings: [] }));
  stack.defer(() => front.stop());
  env = {
    INTERLUDE_CONFIG: path.join(folder, 'agents.yaml'),
    INTERLUDE_DATA: folder,
    INTERLUDE_KEYS: keys,
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_TASK_QUEUE: randomUUID(),
    AUTH_ISSUER: identity.issuer,
    AUTH_CLIENT_ID: demoLoginClient,
    PUBLIC_URL: front.origin,
    OPENAI_API_KEY: 'sk-1',
    HOME: folder,
  };
  await writeFile(env['INTERLUDE_CONFIG'] ?? '', agentsFile({ shop: shopUrl }));
  await mark(storage);
});
afterAll(() => stack.disposeAsync());

function agentsFile(servers: Record<string, string>, tools = ['list']): string {
  return JSON.stringify({
    servers: Object.fromEntries(
      Object.entries(servers).map(([name, url]) => [name, { url, credentialScope: 'none' }]),
    ),
    agents: {
      assistant: { model: 'openai:gpt-5', servers: Object.keys(servers).map((name) => ({ name, tools })) },
    },
  });
}

/** As the first process does. */
async function mark(of: Storage): Promise<void> {
  const logger = pino({ level: 'silent' });
  const installation = openInstallation({ config: loadConfig(env, '.'), storage: of, logger });
  await installation.lookSafely();
  await installation.close();
}

const look = (changes: Record<string, string> = {}): Promise<Diagnosis> =>
  diagnose({
    env: { ...env, ...changes },
    cwd: '.',
    kind: 'server',
    timeoutMs: 5_000,
    signal: new AbortController().signal,
  });

const codesIn = ({ areas }: Diagnosis) =>
  areas.flatMap(({ findings }) => findings.flatMap((one) => (one.level === 'ok' ? [] : one.code)));

/** What the doctor finds besides the missing worker. */
async function codes(changes: Record<string, string> = {}): Promise<string[]> {
  return codesIn(await look(changes)).filter((code) => code !== 'workers');
}

async function withAgents(text: string): Promise<Record<string, string>> {
  const file = path.join(testFolder(), 'agents.yaml');
  await writeFile(file, text);
  return { INTERLUDE_CONFIG: file };
}

test('an installation in order has no findings but the missing worker, and says what a deploy would do', async () => {
  const diagnosis = await look();
  expect(codesIn(diagnosis)).toEqual(['workers']);
  expect(diagnosis).toMatchObject({ errors: 0, warnings: 1 });
  expect(diagnosis.deploy?.effects).toEqual([
    expect.stringMatching(/^New turns start with version .*; no version was deployed before\.$/),
    'No process is running.',
  ]);
});

test('a process of `interlude start` counts as API and as worker; its version is named before it is current', async () => {
  const deployment = randomUUID();
  const { oldest, newest } = contract;
  const process = {
    id: randomUUID(),
    deployment,
    kind: 'start',
    oldest,
    newest,
    buildId: 'coming',
  } as const;
  await storage.versions.renewLease(process, 60_000);
  onTestFinished(() => storage.versions.endLease(process.id));
  const { deploy } = await look({ TEMPORAL_DEPLOYMENT_NAME: deployment });
  expect(deploy?.starting).toEqual(['coming']);
  expect(deploy?.effects).toEqual([
    expect.stringMatching(/no version was deployed before/),
    'Version coming has started and is not current yet: it becomes current by itself, unless its workers stop.',
    'Processes that run now: 1 API, 1 worker. Streams reconnect.',
  ]);
});

test('what is wrong with a folder of tools is said once for all agents that share it', async () => {
  const folder = testFolder();
  await writeFile(path.join(folder, 'a.ts'), `throw new Error('https://away.example/../x does not answer');`);
  const agent = { model: 'openai:gpt-5', tools: { folder } };
  const { areas } = await look(await withAgents(JSON.stringify({ agents: { one: agent, two: agent } })));
  const found = areas.find(({ name }) => name === 'agents')?.findings ?? [];
  expect(found.filter(({ level }) => level === 'error').map(({ text }) => text)).toEqual([
    `one, two: ${path.join(folder, 'a.ts')}:1:7: it throws when it is loaded: https://away.example/../x does not answer`,
  ]);
});

test('changed code of tools is named, and how many calls keep the code that they began with', async () => {
  const url = await postgresUrl();
  const own = await openStorage({ kind: 'postgres', url });
  onTestFinished(() => own.close());
  const folder = path.resolve(import.meta.dirname, '../../fixtures/operations-tools');
  const assistant = { model: 'openai:gpt-5', tools: { folder } };
  const changes = {
    ...(await withAgents(JSON.stringify({ agents: { assistant } }))),
    DATABASE_URL: url,
    TEMPORAL_TASK_QUEUE: randomUUID(),
  };
  const ofTools = async () =>
    ((await look(changes)).deploy?.effects ?? []).filter((effect) => effect.includes('tool'));
  const { hash } = await openToolBundle(folder);
  const keep = (id: string) => own.workflowCode.keep({ id, kind: 'tools', needs: 1, sealed: 'code' });
  await keep(hash);
  expect(await ofTools()).toEqual([]);

  await query(url, 'delete from workflow_code');
  await keep('before');
  const calls = [{ toolCallId: 'c1', toolName: 'reserve', input: {}, code: 'before' }];
  await keptStep(own, await beginTurn(own, 'approval'), { calls });
  // A call of a tool that asks is a workflow.
  await temporal.client.workflow.start('durableTool', {
    taskQueue: toolQueueName(changes.TEMPORAL_TASK_QUEUE, 'before'),
    workflowId: randomUUID(),
  });
  await expect
    .poll(ofTools)
    .toEqual([
      'The tool code of assistant has changed: new calls run it.',
      'Calls that go on with the tool code that they began with: 2.',
    ]);
});

describe('a planted fault is found:', () => {
  const gone = async () => `http://127.0.0.1:${await freePort()}`;
  const slackAt = (url: string) => ({
    SLACK_API_URL: `${url}/api`,
    SLACK_SIGNING_SECRET: 'signing',
    SLACK_BOT_TOKEN: 'xoxb-1',
  });

  test.each<[string, string[], () => Promise<Record<string, string>> | Record<string, string>]>([
    ['a setting is wrong', ['settings-wrong'], () => ({ INTERLUDE_KEYS: 'k1:short' })],
    ['a setting is misspelt', ['settings-unread'], () => ({ INTERLUDE_KEYZ: keys })],
    ['a key is lost', ['keys-wrong'], () => ({ INTERLUDE_KEYS: `k2:${randomBytes(32).toString('base64')}` })],
    [
      'the database is away',
      ['database-away'],
      async () => ({ DATABASE_URL: `postgres://127.0.0.1:${await freePort()}/x` }),
    ],
    [
      'the database is read-only',
      ['database-read-only'],
      () => ({ DATABASE_URL: `${env['DATABASE_URL']}?options=-c%20default_transaction_read_only%3Don` }),
    ],
    [
      'Temporal is away',
      ['temporal-away'],
      async () => ({ TEMPORAL_ADDRESS: `127.0.0.1:${await freePort()}` }),
    ],
    ['the namespace is missing', ['temporal-namespace'], () => ({ TEMPORAL_NAMESPACE: 'nowhere' })],
    [
      'the namespace is missing before the first deploy',
      ['temporal-namespace'],
      async () => ({ DATABASE_URL: await postgresUrl(), TEMPORAL_NAMESPACE: 'nowhere' }),
    ],
    ['the issuer is away', ['issuer-away'], async () => ({ AUTH_ISSUER: await gone() })],
    ['the issuer refuses our client', ['issuer-client'], () => ({ AUTH_CLIENT_SECRET: 'old' })],
    ['Slack is away', ['slack-away'], async () => slackAt(await gone())],
    ['a key of a model is missing', ['settings-wrong'], () => ({ OPENAI_API_KEY: '' })],
    [
      'an agent lists a tool that is not there',
      ['agent-lacks'],
      () => withAgents(agentsFile({ shop: shopUrl }, ['lost'])),
    ],
    [
      'a server is away',
      ['server-away'],
      async () => withAgents(agentsFile({ shop: `${await gone()}/mcp` })),
    ],
    ['the proxy leads nowhere', ['address-unanswered'], async () => ({ PUBLIC_URL: await gone() })],
    [
      'the public address is not encrypted',
      ['address-unsafe', 'address-unanswered'],
      () => ({ PUBLIC_URL: 'http://interlude.invalid' }),
    ],
  ])('%s', async (_, expected, changes) => {
    expect(await codes(await changes())).toEqual(expected);
  });

  test.skipIf(found.kind !== 'ready')('a pooler is in front of the database', async () => {
    if (found.kind !== 'ready') return;
    const url = env['DATABASE_URL'] ?? '';
    await using pooler = await startPgBouncer(found, url);
    expect(await codes({ DATABASE_URL: pooler.through(url) })).toEqual(['database-pooler']);
  });

  test('a forgotten transaction has locks, and others wait for it', async () => {
    const [holder, waiter] = [env, env].map(
      ({ DATABASE_URL }) => new pg.Client({ connectionString: DATABASE_URL, application_name: 'psql' }),
    );
    await Promise.all([holder?.connect(), waiter?.connect()]);
    await holder?.query('begin; lock table approvals');
    const waiting = waiter?.query('select count(*) from approvals');
    const textOf = async () => {
      const { areas } = await look();
      return areas
        .flatMap(({ findings }) => findings)
        .find((one) => 'code' in one && one.code === 'database-locks');
    };
    await expect.poll(textOf).toMatchObject({
      text: expect.stringMatching(
        /^a transaction of psql \(idle in transaction\) has had locks for .*, and 1 session waits for it$/,
      ),
      remedy: expect.stringMatching(/select pg_terminate_backend\(\d+\)$/),
    });
    await holder?.query('rollback');
    await waiting;
    await Promise.all([holder?.end(), waiter?.end()]);
  });

  test('the schema is too old, or of a later release', async () => {
    const [old, newer] = [await postgresUrl(), await postgresUrl()];
    await query(old, "create table kysely_migration as select '040-old' as name");
    expect(await codes({ DATABASE_URL: old })).toContain('database-too-old');
    await (await openStorage({ kind: 'postgres', url: newer })).close();
    await query(newer, "insert into kysely_migration values ('999-later', '')");
    expect(await codes({ DATABASE_URL: newer, TEMPORAL_TASK_QUEUE: randomUUID() })).toEqual([
      'database-newer',
    ]);
  });

  test('the database is not the one that belongs to Temporal', async () => {
    const url = await postgresUrl();
    const other = await openStorage({ kind: 'postgres', url });
    await other.installation.make();
    await other.close();
    expect(await codes({ DATABASE_URL: url })).toEqual(['installation-apart']);
  });

  test('turns wait with versions that nothing can run', async () => {
    const url = await postgresUrl();
    const own = await openStorage({ kind: 'postgres', url });
    onTestFinished(() => own.close());
    const changes = { DATABASE_URL: url, TEMPORAL_TASK_QUEUE: randomUUID() };
    const deployment = changes.TEMPORAL_TASK_QUEUE;
    const needs = contract.newest + 1;
    await own.workflowCode.keep({ id: 'later', kind: 'turns', needs, sealed: 'code' });
    for (const version of ['gone', 'later']) {
      await own.versions.use(deployment, version);
      await own.turns.prepare(newTurn(), refuseWhileBusy, deployment);
    }
    const asking = await beginTurn(own, 'one');
    await ask(own, asking);
    await query(url, 'update turns set build_id = null where turn_id = $1', [asking.turnId]);
    const diagnosis = await look(changes);
    expect(codesIn(diagnosis)).toEqual([
      'installation-apart',
      'workers',
      'turns-of-another-contract',
      'turns-without-code',
      'turns-without-worker',
      'turns-without-version',
    ]);
    expect(diagnosis.deploy?.versions).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ buildId: 'gone', working: 1, waiting: 0, isKept: false, isPolled: false }),
        expect.objectContaining({ buildId: 'later', isCurrent: true, isKept: true }),
        expect.objectContaining({ buildId: null, waiting: 1, working: 0 }),
      ]),
    );
  });

  test('the clock is wrong; programs get an object and the exit code', async () => {
    const { code, output } = await startCommand(['doctor', '--json'], { ...env, ...shiftedClock(-60_000) });
    const diagnosis = JSON.parse(output) as Diagnosis & { isSafe: boolean; exitCode: number };
    expect(codesIn(diagnosis)).toEqual(['clock-differs', 'workers']);
    expect(output).toContain('the clock of this machine is 60 s behind that of the database');
    expect([code, diagnosis.isSafe, diagnosis.exitCode]).toEqual([0, true, 0]);
  });
});

test('people read what is wrong, and what to do; the schema is left as it was', async () => {
  const url = await postgresUrl();
  await (await openStorage({ kind: 'postgres', url })).close();
  await query(url, "delete from kysely_migration where name = '057-versions-of-processes'");
  const issuer = `http://127.0.0.1:${await freePort()}`;
  const changes = { DATABASE_URL: url, TEMPORAL_TASK_QUEUE: randomUUID(), AUTH_ISSUER: issuer };
  const { code, output } = await startCommand(['doctor'], { ...env, ...changes, INTERLUDE_KEYZ: keys });
  expect(code).toBe(1);
  expect(output).toContain(`
  sign-in
    ✗ ${issuer} cannot be reached: nothing is listening there
      → check the address, and that it runs
`);
  expect(output).toMatch(/ {4}! INTERLUDE_KEYZ: .*\n {6}→ correct its name, or remove it\n/);
  expect(output).toContain('✓ 1 migration to run: 057-versions-of-processes');
  expect(output).toContain('· The first process that starts runs 1 migration.');
  expect(output).toMatch(/\n {2}✗ Not safe to deploy: 1 error, 2 warnings\n\n$/);
  const names = await query(url, 'select name from kysely_migration');
  expect(names).not.toContainEqual({ name: '057-versions-of-processes' });
});
