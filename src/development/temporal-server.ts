/**
 * The embedded Temporal: the CLI's development server on a file in the data folder. It dies with us, is started again
 * when it dies alone, and whatever a killed predecessor left behind is cleared away before: two servers on one file
 * would destroy it.
 */
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { readTools } from '../../scripts/setup/tools.mjs';
import { spawnBound } from './bound-process.ts';
import type { TemporalConfig } from '../config/config.ts';
import { startHostCheckingProxy } from './host-checking-proxy.ts';
import { choosePort, freePort } from './ports.ts';
import { makePrivate, makePrivateFolder } from '../storage/private-files.ts';
import { withTimeout } from '../time/with-timeout.ts';
import { clearLeftover, recordServer } from './temporal-server-record.ts';
import { TemporalNotStarted, waitUntilReady } from './temporal-server-ready.ts';

export interface TemporalServer {
  address: string;
  uiUrl: string;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
/** It has this long to end by itself. */
const killAfterMs = 5_000;

/**
 * Without these the server answers four times slower: rollback journal, and 20 tasks a second for its one shard. And of
 * two people who answer the same turn at once, one would wait a second: it takes one query of a workflow at a time.
 * `synchronous=1` loses nothing when a process is killed; 2 would also outlive a power cut, for half as long again per
 * signal, which a development server need not pay.
 * The names are case-sensitive here, and unknown ones are ignored in silence.
 */
export const settings = [
  '--sqlite-pragma=journal_mode=wal',
  '--sqlite-pragma=synchronous=1',
  '--dynamic-config-value=history.transferProcessorMaxPollRPS=2000',
  '--dynamic-config-value=history.MaxBufferedQueryCount=20',
  '--dynamic-config-value=system.enableActivityEagerExecution=true',
];

export async function startTemporalServer({
  temporal,
  dataDir,
  logger,
}: {
  temporal: Pick<TemporalConfig, 'namespace' | 'port' | 'uiPort'>;
  dataDir: string;
  logger: Logger;
}): Promise<TemporalServer> {
  const executable = readTools().temporal;
  if (executable === undefined) {
    throw new TemporalNotStarted(
      'The Temporal CLI is not set up: run npm start, or npm run setup temporal, or set TEMPORAL_ADDRESS',
    );
  }
  makePrivateFolder(dataDir);
  const database = path.resolve(dataDir, 'temporal.db');
  makePrivate(database);
  await clearLeftover(dataDir, database);
  const port = await choosePort({
    host,
    wanted: temporal.port,
    usual: 7233,
    variable: 'TEMPORAL_PORT',
    logger,
  });
  const uiPort = await choosePort({
    host,
    wanted: temporal.uiPort,
    usual: 8233,
    variable: 'TEMPORAL_UI_PORT',
    logger,
  });
  // The server's own pages answer under any name, so that a page of the web could read them; ours in front do not. Where
  // the system lets us, theirs are at an address that nobody can guess.
  const ui = { host: randomLoopback(), port: 0 };
  ui.port = await freePort(ui.host);
  const flags = [
    `--ip=${host}`,
    `--port=${port}`,
    `--ui-ip=${ui.host}`,
    `--ui-port=${ui.port}`,
    `--db-filename=${database}`,
    `--namespace=${temporal.namespace}`,
    '--log-level=error',
    ...settings,
  ];

  let server: ChildProcess;
  let stopping = false;
  let hasRun = false;
  const start = async () => {
    server = spawnBound(...withPrivateUmask(executable, ['server', 'start-dev', ...flags]), {
      // Nothing of ours: others can read what a process was started with.
      env: {},
    });
    // One that never ran would not run the next time either: that is for the caller to know.
    server.once('exit', () => void (stopping || !hasRun || restart()));
    recordServer(dataDir, server.pid);
    await waitUntilReady(server, { address: `${host}:${port}`, namespace: temporal.namespace });
  };
  const restart = async () => {
    logger.error('Temporal ended by itself; starting it again');
    await sleep(200);
    if (!stopping) await start().catch((err: unknown) => logger.error({ err }, 'Temporal does not start'));
  };
  const proxy = await startHostCheckingProxy({ host, port: uiPort }, ui);
  try {
    await start();
  } catch (error) {
    await proxy.stop();
    throw error;
  }
  hasRun = true;
  return {
    address: `${host}:${port}`,
    uiUrl: `http://${host}:${uiPort}`,
    async stop() {
      stopping = true;
      await proxy.stop();
      await end(server);
    },
  };
}

/** All of 127.0.0.0/8 is this machine on Linux, elsewhere only its first address. */
function randomLoopback(): string {
  if (process.platform !== 'linux') return host;
  return `127.${[0, 0, 0].map(() => randomInt(1, 255)).join('.')}`;
}

/** Whatever it writes is its owner's alone. */
function withPrivateUmask(command: string, args: string[]): [string, string[]] {
  if (process.platform === 'win32') return [command, args];
  return ['/bin/sh', ['-c', 'umask 077; exec "$@"', 'sh', command, ...args]];
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  if ((await withTimeout(ended, killAfterMs, 'late')) === 'late') server.kill('SIGKILL');
  await ended;
}
