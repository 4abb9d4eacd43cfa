/**
 * The service under measurement, as it is, configured only through its environment: `interlude start`, API and worker
 * in one process, or in production's shape, two APIs and two workers. The bench plays everybody else: users, model,
 * MCP server, issuer.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { connectionKey } from '../src/credentials/connection-key.ts';
import { sealAccount } from '../src/credentials/mcp-oauth/account.ts';
import { generateKey, parseKeys } from '../src/credentials/sealing/key-ring.ts';
import { loadConfig } from '../src/platform/config/load-config.ts';
import type { Config } from '../src/platform/config/config.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { freePort } from '../src/platform/network/ports.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { openPostgres } from '../src/storage/postgres/open-postgres.ts';
import { openSqlite } from '../src/storage/sqlite/open-sqlite.ts';
import type { Storage } from '../src/storage/storage.ts';
import type { Inside } from './inside-service.ts';
import { pingTool } from './doubles/mcp.ts';
import type { McpDouble } from './doubles/mcp.ts';
import { tenant } from './doubles/issuer.ts';
import type { Model } from './doubles/model.ts';
import type { Issuer } from './doubles/issuer.ts';
import type { AskingServers } from './doubles/asking.ts';

export interface Dependencies {
  temporal: { address: string; namespace: string };
  model: Model;
  mcp: McpDouble;
  issuer: Issuer;
  asking: AskingServers;
  /** PostgreSQL; the embedded file when absent. */
  databaseUrl?: string | undefined;
  /** What is configured otherwise. */
  env?: Record<string, string>;
  /** One process with everything, unless given. The others need a database that several processes can share. */
  shape?: keyof typeof shapes;
}

const shapes = {
  embedded: { apis: 1, workers: 0 },
  /** One API and one worker. */
  divided: { apis: 1, workers: 1 },
  production: { apis: 2, workers: 2 },
};

export interface Service extends AsyncDisposable {
  baseUrl: string;
  /** Of every API. */
  baseUrls: string[];
  config: Config;
  /** The bench's own hands on the service's database. */
  storage: Storage;
  /**
   * Gives each user an account at the MCP server, whose access token is the user's name. Tells nobody; in one statement,
   * so that nobody finds some of them early.
   */
  connectAccounts(users: string[]): Promise<void>;
  /** What only the process itself can see; the first one, where there are several. */
  inside<Question extends keyof Inside>(question: Question): Promise<Inside[Question]>;
  /** The same of every process. */
  insideAll<Question extends keyof Inside>(question: Question): Promise<Inside[Question][]>;
  /** Stops the process and starts it again on the same data: every waiting turn is evicted. */
  restart(): Promise<void>;
  /** Kills one of several workers with -9. */
  killWorker(): Promise<void>;
  /** Starts another worker and waits until it polls. */
  addWorker(): Promise<void>;
}

const at = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export async function startService(dependencies: Dependencies, client: Client): Promise<Service> {
  const { temporal, model, mcp, issuer, asking, databaseUrl, shape = 'embedded', env = {} } = dependencies;
  const { apis, workers } = shapes[shape];
  const stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-bench-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const ports = await Promise.all(Array.from({ length: apis }, () => freePort('127.0.0.1')));
  const keys = generateKey('bench');
  const environment = {
    PATH: process.env['PATH'],
    PORT: String(ports[0]),
    INTERLUDE_CONFIG: at('agents.yaml'),
    INTERLUDE_DATA: dataDir,
    INTERLUDE_KEYS: keys,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    TEMPORAL_TASK_QUEUE: `bench-${randomUUID()}`,
    AUTH_ISSUER: issuer.url,
    AUTH_AUDIENCE: issuer.audience,
    AUTH_CLIENT_ID: 'bench',
    BENCH_MODEL_URL: model.baseURL,
    BENCH_SERVER_URL: mcp.url,
    BENCH_ROUNDS_URL: asking.urls.rounds,
    BENCH_LEFT_URL: asking.urls.left,
    BENCH_HELD_URL: asking.urls.held,
    BENCH_OWN_URL: `http://127.0.0.1:${ports[0]}`,
    BENCH_FAR_AUTHORIZATION: `Bearer ${await issuer.token('far')}`,
    RATE_LIMIT_PER_MINUTE: '1000000',
    LIVE_TURNS_PER_USER: '1000000',
    QUEUED_TURNS_MAX: '1000000',
    OPEN_REQUESTS_PER_USER: '1000000',
    OPEN_REQUESTS_PER_ADDRESS: '1000000',
    ELICITATION_TIMEOUT: '1h',
    LOG_LEVEL: 'warn',
    ...env,
  };
  const config = loadConfig(environment, dataDir);
  const storage = stack.use(await openOwn(config.database));
  const own =
    config.database.kind === 'sqlite'
      ? await openSqlite(config.database.path)
      : openPostgres(config.database.url, createLogger({ level: 'error', human: true }));
  stack.defer(() => own.close());
  const ring = parseKeys(keys);
  const peer = config.servers.get('peer');
  if (!peer) throw new Error('bench/agents.yaml describes no server "peer"');
  await storage.toolCatalogue.put(
    { tenant, server: 'peer', user: null },
    { tools: [pingTool], audience: 'tenant', freshMs: null },
  );

  const baseUrls = ports.map((port) => `http://127.0.0.1:${port}`);
  const [baseUrl = ''] = baseUrls;
  const run = (command: 'start' | 'server' | 'worker', env: NodeJS.ProcessEnv) =>
    fork(at('../src/cli/checkout.ts'), [command], {
      execArgv: [
        '--expose-gc',
        ...['collect-in-threads.ts', 'inside-service.ts', 'task-timeouts.ts'].flatMap((file) => [
          '--import',
          at(file),
        ]),
      ],
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  const start = async () => {
    const started = [
      ...ports.map((port) => run(workers > 0 ? 'server' : 'start', { ...environment, PORT: String(port) })),
      ...Array.from({ length: workers }, () => run('worker', environment)),
    ];
    while (!(await areReady(baseUrls)) || (await pollers(client, environment)) < workers) {
      if (started.some(({ exitCode }) => exitCode !== null)) throw new Error('the service did not start');
      await sleep(100);
    }
    return started;
  };
  let processes = await start();
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    await Promise.all(processes.map((one) => endOne(one, signal)));
  };
  stack.defer(() => end('SIGKILL'));

  return {
    baseUrl,
    baseUrls,
    config,
    storage,
    async connectAccounts(users) {
      const at = Date.now();
      const rows = users.map((user) => {
        const key = connectionKey(peer, { tenant, user });
        const sealed = sealAccount(ring, key, {
          accessToken: user,
          obtainedAt: at,
          connectedAt: 0,
          expiresAt: null,
          serverUrl: mcp.url,
          issuer: mcp.origin,
          resource: mcp.url,
          client: { kind: 'configured', clientId: 'bench' },
        });
        return {
          tenant,
          server: key.server,
          user_id: user,
          store: 'oauth',
          version: 1,
          status: 'active' as const,
          scopes: '[]',
          sealed,
          created_at: at,
          updated_at: at,
        };
      });
      // A statement has at most 65,535 parameters.
      const rowsAtOnce = 1_000;
      for (let first = 0; first < rows.length; first += rowsAtOnce)
        // A question that was opened has left a row without an account.
        await own.query
          .insertInto('connections')
          .values(rows.slice(first, first + rowsAtOnce))
          .onConflict((there) =>
            there.columns(['tenant', 'server', 'user_id']).doUpdateSet((row) => ({
              store: row.ref('excluded.store'),
              version: row.ref('excluded.version'),
              status: row.ref('excluded.status'),
              sealed: row.ref('excluded.sealed'),
            })),
          )
          .execute();
    },
    async inside(question) {
      const [first] = processes;
      if (!first) throw new Error('no process runs');
      return askInside(first, question);
    },
    insideAll: (question) => Promise.all(processes.map((one) => askInside(one, question))),
    async restart() {
      await end('SIGTERM');
      processes = await start();
    },
    async killWorker() {
      const worker = processes.pop();
      if (shape !== 'production' || !worker) throw new Error('there is no worker of its own');
      await endOne(worker, 'SIGKILL');
    },
    async addWorker() {
      const before = await pollers(client, environment);
      processes.push(run('worker', environment));
      while ((await pollers(client, environment)) <= before) await sleep(100);
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function askInside<Question extends keyof Inside>(
  one: ChildProcess,
  question: Question,
): Promise<Inside[Question]> {
  const answer = once(one, 'message');
  one.send(question);
  const [answers] = (await answer) as [Inside];
  return answers[question];
}

async function openOwn(database: Config['database']): Promise<Storage & AsyncDisposable> {
  const storage = await openStorage(database);
  return { ...storage, [Symbol.asyncDispose]: () => storage.close() };
}

async function endOne(one: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const exited = once(one, 'exit');
  one.kill(signal);
  await exited;
}

async function areReady(baseUrls: string[]): Promise<boolean> {
  const ready = baseUrls.map(async (baseUrl) => {
    const response = await fetch(`${baseUrl}/readyz`).catch(() => null);
    const { warnings = [] } = ((await response?.json()) ?? {}) as { warnings?: unknown[] };
    return response?.ok === true && warnings.length === 0;
  });
  return (await Promise.all(ready)).every(Boolean);
}

/** How many processes take workflow tasks from the queue. */
async function pollers(
  { workflowService }: Client,
  environment: { TEMPORAL_NAMESPACE: string; TEMPORAL_TASK_QUEUE: string },
): Promise<number> {
  const { pollers: polling } = await workflowService.describeTaskQueue({
    namespace: environment.TEMPORAL_NAMESPACE,
    taskQueue: { name: environment.TEMPORAL_TASK_QUEUE },
    taskQueueType: 1,
  });
  return new Set(polling.map(({ identity }) => identity)).size;
}
