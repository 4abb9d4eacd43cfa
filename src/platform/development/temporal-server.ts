/**
 * The embedded Temporal: the CLI's development server on a file in the data folder. It ends when we end, is restarted when it
 * ends by itself, and what a killed predecessor left is cleared first: two servers on one file would destroy it.
 */
import { spawn, execFileSync } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { findTemporalCli } from '../../../scripts/setup/temporal-cli.mjs';
import type { TemporalConfig } from '../config/config.ts';
import { isKnownHost } from '../network/addresses.ts';
import { choosePort, freePort } from '../network/ports.ts';
import { makePrivate, makePrivateFolder } from '../../storage/private-files.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { readFileSync, writeFileSync } from 'node:fs';

export interface TemporalServer {
  address: string;
  uiUrl: string;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
/** How long it may take to end by itself. */
const killAfterMs = 5_000;

/**
 * The server's defaults are four times slower: rollback journal, and 20 tasks a second for its one shard; and one query
 * of a workflow at a time, so that the second of two simultaneous answers waits a second. `synchronous=1` loses nothing
 * when a process is killed; 2 would also survive a power cut, but a signal would take half as long again. Names are
 * case-sensitive here, and unknown ones are ignored silently.
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
  const executable = findTemporalCli();
  // Where no command of ours has run: tests of agents in other runners, whose time-outs are too short for it.
  if (executable === undefined)
    throw new TemporalNotStarted(
      "Temporal's CLI is not on this machine yet. Fetch it once: npx interlude test --prepare",
    );
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
  // The server's own UI accepts any host name, so a web page could read it; the proxy in front does not. Where
  // possible, its UI listens at an address that cannot be guessed.
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
      // An empty environment: others can read a process's environment.
      env: {},
    });
    // A server that never ran would fail again: the caller gets that error.
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

/** On Linux, all of 127.0.0.0/8 is this machine; elsewhere only its first address. */
function randomLoopback(): string {
  if (process.platform !== 'linux') return host;
  return `127.${[0, 0, 0].map(() => randomInt(1, 255)).join('.')}`;
}

/** Its files are private. */
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

const timeoutMs = 60_000;

/** A message for people, without a stack. */
class TemporalNotStarted extends Error {
  override name = 'TemporalNotStarted';
}

/** Resolves when the namespace is usable. Rejects with the server's last output when the server ends before. */
async function waitUntilReady(
  server: ChildProcess,
  { address, namespace }: { address: string; namespace: string },
): Promise<void> {
  let output = '';
  const listen = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-2000));
  server.stdout?.on('data', listen);
  server.stderr?.on('data', listen);
  let failure: string | undefined;
  server.once('error', (error) => (failure = error.message));
  server.once('exit', (code, signal) => (failure ??= `it ended with ${code ?? signal}`));

  for (const deadline = Date.now() + timeoutMs; Date.now() < deadline; await sleep(25)) {
    if (failure !== undefined)
      throw new TemporalNotStarted(
        `Temporal's development server did not start: ${failure}\n${output.trim()}`,
      );
    // A plain connection first: after a failed one, gRPC waits a whole second.
    if ((await acceptsConnections(address)) && (await hasNamespace(address, namespace))) return;
  }
  server.kill('SIGKILL');
  throw new TemporalNotStarted(
    `Temporal's development server was not ready after ${timeoutMs / 1000} s\n${output.trim()}`,
  );
}

function acceptsConnections(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function hasNamespace(address: string, namespace: string): Promise<boolean> {
  // Without the SDK's retries: one that is due after the connection was closed throws in a timer.
  const connection = Connection.lazy({ address, interceptors: [] });
  try {
    await connection.withDeadline(Date.now() + 5_000, () =>
      connection.workflowService.describeNamespace({ namespace }),
    );
    return true;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}

// Temporal's UI accepts any Host header. This reverse proxy passes on only requests to names of this machine (against DNS rebinding).

interface Place {
  host: string;
  port: number;
}

export async function startHostCheckingProxy(at: Place, to: Place): Promise<{ stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (isKnownHost(request.headers.host)) return pass(request, response, to);
    response.writeHead(421, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('Open it as localhost or 127.0.0.1.\n');
  });
  server.listen(at.port, at.host);
  await once(server, 'listening');
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function pass(request: IncomingMessage, response: ServerResponse, to: Place): void {
  const { method, url: path, headers } = request;
  const passed = send({ ...to, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  passed.once('error', () => {
    if (response.headersSent) return response.destroy();
    response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('It does not answer; it may be starting.\n');
  });
  response.once('close', () => passed.destroy());
  request.pipe(passed);
}

// A child process that cannot outlive us, even after `kill -9`. A watcher holds the read end of a pipe whose only writer is this
// process, and kills the child when the pipe closes. The child replaces the shell that started the watcher, so `child.pid` is
// the program itself. Without sh (Windows), the child is an ordinary one.

const script = `
exec 3<&0
( trap '' INT TERM; while read -r _ <&3; do :; done; kill -KILL $$ ) >/dev/null 2>&1 &
exec "$@" </dev/null 3<&-
`;

/**
 * Standard output and error are pipes. The child has its own process group, so Ctrl+C in the terminal only reaches us.
 */
export function spawnBound(command: string, args: string[], options: SpawnOptions = {}): ChildProcess {
  if (process.platform === 'win32')
    return spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const child = spawn('/bin/sh', ['-c', script, 'sh', command, ...args], {
    ...options,
    detached: true,
    stdio: 'pipe',
  });
  child.once('exit', () => child.stdin.destroy());
  child.stdin.on('error', () => undefined);
  return child;
}

// The record of the server that runs, beside its data.

interface ServerRecord {
  server: number;
  owner: number;
}

function recordServer(dataDir: string, server: number | undefined): void {
  if (server === undefined) return;
  const record: ServerRecord = { server, owner: process.pid };
  writeFileSync(fileIn(dataDir), JSON.stringify(record), { mode: 0o600 });
}

/** The process id of the last server on this folder. */
export function recordedServer(dataDir: string): number | undefined {
  return read(dataDir)?.server;
}

/** Ends a server whose owner is gone; refuses while the owner is alive. */
async function clearLeftover(dataDir: string, database: string): Promise<void> {
  const record = read(dataDir);
  if (!record || !runs(record.server, database)) return;
  // A server ends shortly after its owner was killed.
  for (let waited = 0; waited < 20 && isAlive(record.owner) && runs(record.server, database); waited += 1)
    await sleep(50);
  if (!runs(record.server, database)) return;
  if (isAlive(record.owner)) {
    throw new AlreadyRunning(
      `Interlude is already running on the data in ${dataDir} (process ${record.owner}). Stop it, or set INTERLUDE_DATA to another folder.`,
    );
  }
  process.kill(record.server, 'SIGKILL');
  while (runs(record.server, database)) await sleep(20);
}

class AlreadyRunning extends Error {
  override name = 'AlreadyRunning';
}

const fileIn = (dataDir: string) => path.join(dataDir, 'temporal.json');

function read(dataDir: string): ServerRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataDir), 'utf8')) as ServerRecord;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Process ids are reused, so the command line must contain our file as well. */
function runs(pid: number, database: string): boolean {
  if (!isAlive(pid) || process.platform === 'win32') return false;
  try {
    return execFileSync('ps', ['-ww', '-p', String(pid), '-o', 'args='], { encoding: 'utf8' }).includes(
      database,
    );
  } catch {
    return false;
  }
}
