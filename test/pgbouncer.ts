/**
 * A real PgBouncer, in transaction mode unless another is asked for: the machine's own (PGBOUNCER_PATH, or on the PATH), else Debian's. Its pool is small,
 * and nothing resets a server connection between two clients, as operators run it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnBound } from '../src/platform/development/temporal-server.ts';
import { freePort } from './free-port.ts';
import { findProgram } from './programs/find-program.ts';
import type { Found, Program } from './programs/find-program.ts';
import { follow } from './programs/running-program.ts';

const program: Program = {
  given: 'PGBOUNCER_PATH',
  names: ['pgbouncer'],
  package: 'pgbouncer',
  executable: 'usr/sbin/pgbouncer',
};

export const poolSize = 5;

export interface PgBouncer extends AsyncDisposable {
  /** The same database, through the pooler. */
  through(databaseUrl: string): string;
  /** Ends it at once, and starts it again after this time, with the login of this URL. */
  restart(databaseUrl: string, afterMs?: number): Promise<void>;
}

/** Says so where there is none, so that its tests are not missed silently. */
export async function findPgBouncer(): Promise<Found> {
  const found = await findProgram(program);
  if (found.kind === 'missing') process.stderr.write(`No PgBouncer: ${found.why}\n`);
  return found;
}

/** In front of the server of this database, and for all databases there. */
export async function startPgBouncer(
  { executable, env }: Extract<Found, { kind: 'ready' }>,
  databaseUrl: string,
  mode: 'transaction' | 'session' | 'statement' = 'transaction',
): Promise<PgBouncer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-pgbouncer-'));
  const port = await freePort();
  const file = path.join(folder, 'pgbouncer.ini');
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['--user', 'nobody'] : [];
  async function start(url: string) {
    await writeFile(file, settings(url, port, mode));
    const started = spawnBound(executable, [...user, file], { env: { ...process.env, ...env } });
    const running = follow(started, 'PgBouncer');
    await running.sees('process up');
    return running;
  }
  let server = await start(databaseUrl);
  // One after another: two at once would listen on the same port.
  let restarted = Promise.resolve();
  return {
    through(url) {
      const pooled = new URL(url);
      pooled.host = `127.0.0.1:${port}`;
      return pooled.href;
    },
    restart(url, afterMs = 0) {
      restarted = restarted.then(async () => {
        await server.kill();
        await sleep(afterMs);
        server = await start(url);
      });
      return restarted;
    },
    async [Symbol.asyncDispose]() {
      await restarted.catch(() => undefined);
      await server.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function settings(databaseUrl: string, port: number, mode: string): string {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const login = `user=${username}${password === '' ? '' : ` password=${decodeURIComponent(password)}`}`;
  return `[databases]
* = host=${hostname} port=${serverPort || '5432'} ${login}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${poolSize}
server_reset_query =
max_client_conn = 500
`;
}
