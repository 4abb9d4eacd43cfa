/**
 * The service under measurement: `src/embedded.ts` as it is, API and worker in one process of its own, configured
 * only through its environment. The bench plays everybody else: users, model, MCP server, issuer.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectionKey } from '../src/credentials/connection-key.ts';
import { sealAccount } from '../src/credentials/mcp-oauth/account.ts';
import { generateKey, parseKeys } from '../src/credentials/sealing.ts';
import { loadConfig } from '../src/config.ts';
import type { Config } from '../src/config.ts';
import { freePort } from '../src/ports.ts';
import { openStorage } from '../src/storage/database.ts';
import type { Storage } from '../src/storage/storage.ts';
import type { Inside } from './inside-service.ts';
import { pingTool } from './peers/mcp.ts';
import type { McpPeer } from './peers/mcp.ts';
import { tenant } from './peers/issuer.ts';
import type { Model } from './peers/model.ts';
import type { Issuer } from './peers/issuer.ts';
import type { AskingPeers } from './peers/asking.ts';

export interface Surroundings {
  temporal: { address: string; namespace: string };
  model: Model;
  mcp: McpPeer;
  issuer: Issuer;
  asking: AskingPeers;
  /** PostgreSQL; the embedded file when absent. */
  databaseUrl?: string | undefined;
}

export interface Service extends AsyncDisposable {
  baseUrl: string;
  config: Config;
  /** The bench's own hands on the service's database. */
  storage: Storage;
  /** Gives this user an account at the MCP server, whose access token is the user's name. Tells nobody. */
  connectAccount(user: string): Promise<void>;
  /** What only the process itself can see. */
  inside<Question extends keyof Inside>(question: Question): Promise<Inside[Question]>;
  /** Stops the process and starts it again on the same data: every waiting turn is evicted. */
  restart(): Promise<void>;
}

const at = (file: string) => fileURLToPath(new URL(file, import.meta.url));

export async function startService(surroundings: Surroundings): Promise<Service> {
  const { temporal, model, mcp, issuer, asking, databaseUrl } = surroundings;
  const stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'interlude-bench-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort('127.0.0.1');
  const keys = generateKey('bench');
  const environment = {
    PATH: process.env['PATH'],
    PORT: String(port),
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
    RATE_LIMIT_PER_MINUTE: '1000000',
    ELICITATION_TIMEOUT: '1h',
    LOG_LEVEL: 'warn',
  };
  const config = loadConfig(environment, dataDir);
  const storage = stack.use(await openOwn(config.database));
  const ring = parseKeys(keys);
  const peer = config.servers.get('peer');
  if (!peer) throw new Error('bench/agents.yaml describes no server "peer"');
  await storage.toolCatalogue.put(
    { tenant, server: 'peer', user: null },
    { tools: [pingTool], audience: 'tenant', freshMs: null },
  );

  const baseUrl = `http://127.0.0.1:${port}`;
  const start = async () => {
    const child = fork(at('../src/embedded.ts'), {
      execArgv: ['--expose-gc', '--import', at('inside-service.ts')],
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    while (!(await isReady(baseUrl))) {
      if (child.exitCode !== null) throw new Error('the service did not start');
      await sleep(100);
    }
    return child;
  };
  let child = await start();
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  stack.defer(() => end('SIGKILL'));

  return {
    baseUrl,
    config,
    storage,
    async connectAccount(user) {
      const key = connectionKey(peer, { tenant, user });
      const sealed = sealAccount(ring, key, {
        accessToken: user,
        obtainedAt: Date.now(),
        expiresAt: null,
        serverUrl: mcp.url,
        issuer: mcp.origin,
        resource: mcp.url,
        client: { kind: 'configured', clientId: 'bench' },
      });
      await storage.connections.establish(key, {
        store: 'oauth',
        account: null,
        scopes: [],
        sealed,
        freshUntil: null,
      });
    },
    async inside(question) {
      const answer = once(child, 'message');
      child.send(question);
      const [answers] = (await answer) as [Inside];
      return answers[question];
    },
    async restart() {
      await end('SIGTERM');
      child = await start();
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function openOwn(database: Config['database']): Promise<Storage & AsyncDisposable> {
  const storage = await openStorage(database);
  return { ...storage, [Symbol.asyncDispose]: () => storage.close() };
}

async function isReady(baseUrl: string): Promise<boolean> {
  const response = await fetch(`${baseUrl}/readyz`).catch(() => null);
  await response?.body?.cancel();
  return response?.ok === true;
}
