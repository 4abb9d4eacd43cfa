/** A database and a Temporal that an operator stops and starts again, with what they hold, at the same addresses. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Config } from '../../src/platform/config/config.ts';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { createDeployment, someKeys } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { freePort } from '../free-port.ts';
import { postgresUrl } from '../postgres.ts';
import { createCluster, query } from '../setup/postgres-server.ts';

export type TemporalService = Awaited<ReturnType<typeof startTemporal>>;

/** On ports of its own, which it keeps. */
export async function startTemporal(dataDir: string) {
  const [port, uiPort] = [await freePort(), await freePort()];
  const start = () =>
    startTemporalServer({
      temporal: { namespace: 'default', port, uiPort },
      dataDir,
      logger: pino({ level: 'silent' }),
    });
  let server = await start();
  return {
    address: server.address,
    dataDir,
    stop: () => server.stop(),
    async start(): Promise<void> {
      server = await start();
    },
    /** Resolves when it is back and answers. */
    async away(ms: number): Promise<void> {
      await server.stop();
      await sleep(ms);
      server = await start();
    },
  };
}

/** A deployment on PostgreSQL, with a Temporal of its own. No process runs yet. */
export async function createOwnDeployment(
  env: Record<string, string> = {},
): Promise<{ deployment: Deployment; temporal: TemporalService; databaseUrl: string }> {
  const databaseUrl = env['DATABASE_URL'] ?? (await postgresUrl());
  const deployment = await createDeployment({
    env: { DATABASE_URL: databaseUrl, INTERLUDE_KEYS: someKeys, ...env },
  });
  const temporal = await startTemporal(`${deployment.dataDir}/temporal`);
  deployment.defer(() => temporal.stop());
  deployment.environment['TEMPORAL_ADDRESS'] = temporal.address;
  return { deployment, temporal, databaseUrl };
}

export interface DatabaseService extends AsyncDisposable {
  /** With the password of now. */
  url(): string;
  config(): Config['database'];
  /** Resolves when it is back and answers. `crashes`: it stops at once and has to recover. */
  away(ms: number, how?: 'in order' | 'crashes'): Promise<void>;
  /** From now on only the new password is accepted, and every session that was open is closed. */
  rotatePassword(): Promise<void>;
  /** A database with the same rows; nothing may be connected to this one. Its URL. */
  copy(name: string): Promise<string>;
  /** `database`: of a copy. */
  query(statement: string, database?: string): Promise<Record<string, unknown>[]>;
}

const user = 'service';
const name = 'interlude_service';

/** Its user has a password, unlike that of the tests' own server. */
export async function startDatabase(): Promise<DatabaseService> {
  const port = await freePort();
  const cluster = createCluster({ port, rules: [`host all ${user} 127.0.0.1/32 scram-sha-256`] });
  await cluster.start();
  let rotations = 0;
  const password = () => createHash('sha256').update(`${rotations}`).digest('hex').slice(0, 20);
  const urlOf = (database: string) => `postgres://${user}:${password()}@127.0.0.1:${port}/${database}`;
  const asOwner = (statement: string, database = 'postgres') =>
    query(`postgres://interlude@127.0.0.1:${port}/${database}`, statement);
  await asOwner(`CREATE ROLE ${user} LOGIN PASSWORD '${password()}'`);
  await asOwner(`CREATE DATABASE ${name} OWNER ${user}`);
  return {
    url: () => urlOf(name),
    config: () => ({ kind: 'postgres', url: urlOf(name) }),
    async away(ms, how = 'in order') {
      await cluster.stop(how === 'crashes' ? 'SIGQUIT' : 'SIGINT');
      await sleep(ms);
      await cluster.start();
    },
    async rotatePassword() {
      rotations++;
      await asOwner(`ALTER ROLE ${user} PASSWORD '${password()}'`);
      await asOwner(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${user}'`);
    },
    async copy(to) {
      await asOwner(`CREATE DATABASE ${to} TEMPLATE ${name} OWNER ${user}`);
      return urlOf(to);
    },
    query: (statement, database = name) => asOwner(statement, database),
    async [Symbol.asyncDispose]() {
      await cluster.stop('SIGQUIT');
      cluster.remove();
    },
  };
}

/** A file on the machine that all processes run on. */
export function sqliteDatabase(): DatabaseService {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-sqlite-'));
  const file = path.join(folder, 'interlude.db');
  const refuse = () => Promise.reject(new Error('not with a file'));
  return {
    url: () => `sqlite:${file}`,
    config: () => ({ kind: 'sqlite', path: file }),
    away: refuse,
    rotatePassword: refuse,
    copy: refuse,
    query: refuse,
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
}
