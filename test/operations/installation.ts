/**
 * The service as in production, and what an operator does to it: two API and two worker processes of a checkout, PostgreSQL
 * and Temporal that can be stopped, and servers that count what is done.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { Connection, Client as TemporalClient } from '@temporalio/client';
import type { Client } from '@interlude-ai/client/client.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { urlsOf, startDesks } from '../e2e/bookings.ts';
import type { Desks } from '../e2e/bookings.ts';
import { createDeployment, someKeys } from '../e2e/deployment.ts';
import type { Deployment } from '../e2e/deployment.ts';
import { untilReady } from '../e2e/processes.ts';
import type { Entry, ServiceProcess } from '../e2e/processes.ts';
import { freePort } from '../free-port.ts';
import { findPgBouncer, startPgBouncer } from '../pgbouncer.ts';
import { kinds } from '../servers/booking-server.ts';
import { serve } from '../servers/serve.ts';
import { shiftedClock } from '../shifted-clock.ts';
import { text } from '../servers/asking-tools.ts';
import { startMcpServer } from '../servers/mcp-server.ts';
import { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { startDatabase, startTemporal } from './outages.ts';
import type { DatabaseService, TemporalService } from './outages.ts';
import { createLines } from './lines.ts';
import type { LineName, Lines } from './lines.ts';
import { startScriptModel } from './script-model.ts';
import { thisCheckout } from './checkouts.ts';
import type { Checkout } from './checkouts.ts';

export interface Installation {
  deployment: Deployment;
  database: DatabaseService;
  temporal: TemporalService;
  /** A client of that Temporal. */
  workflows: TemporalClient['workflow'];
  desks: Desks;
  plain: Awaited<ReturnType<typeof startPlainServer>>;
  /** What tools in TypeScript have booked. */
  booked: string[];
  apiUrls: [string, string];
  /** Replaces the process that has this place, which ends as `how` says. */
  startApi(place: 0 | 1, options?: StartOptions): Promise<Running>;
  /** The places 0 and 1 are the two workers of a release; others stand beside them. */
  startWorker(place: number, options?: StartOptions): Promise<Running>;
  apis: Running[];
  workers: Running[];
  /** Starts a process at this place, and does not wait for it. */
  launch(entry: 'server' | 'worker', place: 0 | 1, checkout: Checkout, clockShiftMs: number): Running;
  /** Given `isWired`. */
  lines: Lines;
  /** Resolves when it runs again; at once where there is none. */
  restartPooler(afterMs: number): Promise<void>;
  /** The database accepts only a new password, of which processes can read in their file after this time. */
  rotatePassword(learntAfterMs: number): Promise<void>;
  /** Another Temporal namespace on the same server. */
  createNamespace(name: string): Promise<void>;
  /** A copy of the database, taken while no process of ours runs; they all run again afterwards. Its URL. */
  copyDatabase(name: string): Promise<string>;
  /** What a command of the program prints; rejects with what it prints to stderr. */
  command(words: string[], checkout?: Checkout): Promise<string>;
  /** Lets new turns go to this release again: what an operator does before the processes are replaced by older ones. */
  rollBackTo(checkout: Checkout): Promise<void>;
  /** A process on its own, with these settings. */
  spawn(entry: Entry, env: Record<string, string>): ServiceProcess;
  /** Of alice, at one of the APIs. */
  client(place?: 0 | 1): Client;
  /** What all processes have logged, in the order of their (perhaps wrong) clocks, a line each. */
  log(): string;
  stop(): Promise<void>;
}

export interface Running extends ServiceProcess {
  checkout: Checkout;
  /** Sets its clock wrong. */
  shiftClock(ms: number): void;
}

interface StartOptions {
  checkout?: Checkout;
  env?: Record<string, string>;
  /** What becomes of the process that had the place. */
  before?: 'SIGTERM' | 'SIGKILL';
  clockShiftMs?: number;
  /** Runs this file of the checkout instead of the program. */
  program?: string;
}

export interface InstallationOptions {
  /** PostgreSQL unless given. */
  database?: DatabaseService;
  env?: Record<string, string>;
  checkout?: Checkout;
  /** Where processes read the database's password: once, from their environment, or from a file. */
  secrets?: 'environment' | 'file';
  /**
   * All connections go through proxies. The processes at place 1 reach PostgreSQL through a pooler, if one can be had. The
   * model is behind HTTP, if the agents file says so.
   */
  isWired?: boolean;
  /** Instead of two workers: one as releases had it before turns had versions. */
  isUnversioned?: boolean;
}

export async function startInstallation({
  env = {},
  checkout = thisCheckout,
  secrets = 'environment',
  isUnversioned = false,
  isWired = false,
  database: given,
}: InstallationOptions = {}): Promise<Installation> {
  const [desks, plain, database] = await Promise.all([
    startDesks(),
    startPlainServer(),
    given ?? startDatabase(),
  ]);
  const booked: string[] = [];
  const hotel = await serve(
    ({ url, response }) => {
      booked.push(decodeURIComponent(url.pathname.slice(1)));
      response.end('done');
    },
    await freePort(),
  );
  const lines = createLines();
  /** The URL through a proxy, if connections are to go through proxies. */
  const through = async (name: LineName, address: string) => {
    if (!isWired) return address;
    const url = new URL(address);
    url.port = String(await lines.through(name, Number(url.port)));
    return url.href.replace(/\/$/, '');
  };
  const model = await startScriptModel();
  const { rounds, streams, held } = urlsOf(desks);
  const ports = [await freePort(), await freePort()] as const;
  const deployment = await createDeployment({
    port: ports[0],
    env: {
      INTERLUDE_KEYS: someKeys,
      LOG_LEVEL: 'info',
      ROUNDS_URL: await through('servers', rounds),
      STREAMS_URL: await through('servers', streams),
      HELD_URL: await through('servers', held),
      PLAIN_URL: await through('servers', plain.url),
      HOTEL_URL: await through('servers', hotel.origin),
      MODEL_URL: await through('model', model.baseURL),
      ELICITATION_TIMEOUT: '1h',
      ELICITATION_MAX_OPEN: '500',
      LIVE_TURNS_PER_USER: '500',
      RATE_LIMIT_PER_MINUTE: '100000',
      OPEN_REQUESTS_PER_USER: '1000',
      SHUTDOWN_GRACE_PERIOD: '5s',
      ...env,
    },
  });
  const { dataDir } = deployment;
  deployment.defer(() => database[Symbol.asyncDispose]());
  deployment.defer(() => Promise.all([...kinds.map((kind) => desks[kind].stop()), plain.stop()]));
  deployment.defer(() => Promise.all([hotel.stop(), model.stop()]));
  deployment.defer(() => lines.stop());
  const temporal = await startTemporal(`${dataDir}/temporal`);
  deployment.defer(() => temporal.stop());
  const connection = await Connection.connect({ address: temporal.address });
  deployment.defer(() => connection.close());
  const workflows = new TemporalClient({ connection, namespace: 'default' }).workflow;

  const temporalUrl = await through('Temporal', `http://${temporal.address}`);
  const pooler = isWired ? await startPooler(database.url()) : undefined;
  if (pooler) deployment.defer(() => pooler[Symbol.asyncDispose]());
  const databasePort = database.url().startsWith('postgres')
    ? new URL(await through('PostgreSQL', database.url())).port
    : '';
  /** Where the processes at this place reach the database, with the password of now. */
  const databaseUrl = (place = 0) => {
    if (place === 1 && pooler) return pooler.through(database.url());
    if (databasePort === '') return database.url();
    const url = new URL(database.url());
    url.port = databasePort;
    return url.href;
  };
  const secretFile = (place = 0) => path.join(dataDir, `database-url-${place}`);
  // As container platforms do it: never half a secret.
  const writeSecrets = () => {
    for (const place of [0, 1]) {
      writeFileSync(`${secretFile(place)}.new`, databaseUrl(place));
      renameSync(`${secretFile(place)}.new`, secretFile(place));
    }
  };
  writeSecrets();
  const common = (code: Checkout, place?: number): Record<string, string> => {
    return {
      TEMPORAL_ADDRESS: new URL(temporalUrl).host,
      INTERLUDE_CONFIG:
        env['INTERLUDE_CONFIG'] ?? path.join(code.root, 'test/fixtures/operations-agents.yaml'),
      ...(secrets === 'file'
        ? { DATABASE_URL_FILE: secretFile(place) }
        : { DATABASE_URL: databaseUrl(place) }),
    };
  };

  const logged: { entry: Entry; service: ServiceProcess }[] = [];
  const apis: Running[] = [];
  const workers: Running[] = [];
  function launch(
    entry: 'server' | 'worker',
    place: number,
    { checkout: code = checkout, env: more = {}, clockShiftMs = 0, program }: StartOptions = {},
  ): Running {
    const places = entry === 'server' ? apis : workers;
    const clockFile = path.join(dataDir, 'clocks', randomUUID());
    mkdirSync(path.dirname(clockFile), { recursive: true });
    const shiftClock = (ms: number) => writeFileSync(clockFile, String(ms));
    shiftClock(clockShiftMs);
    const clock = shiftedClock({ file: clockFile });
    const own = entry === 'server' && { PORT: String(ports[place]) };
    const all = { ...common(code, place), ...clock, ...own, ...more };
    const service = deployment.spawn(entry, all, { checkout: code.root, ...(program && { program }) });
    logged.push({ entry, service });
    places[place] = { ...service, checkout: code, shiftClock };
    return places[place];
  }

  async function start(
    entry: 'server' | 'worker',
    place: number,
    options: StartOptions = {},
  ): Promise<Running> {
    const before = (entry === 'server' ? apis : workers)[place];
    if (before?.isAlive() === true) await before.kill(options.before ?? 'SIGTERM');
    const running = launch(entry, place, options);
    await untilReady(running, entry === 'server' ? apiUrls[place] : undefined);
    return running;
  }
  const apiUrls: [string, string] = [
    await through('users', `http://127.0.0.1:${ports[0]}`),
    await through('users', `http://127.0.0.1:${ports[1]}`),
  ];

  async function command(words: string[], code: Checkout = checkout): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, ['src/cli/checkout.ts', ...words], {
      cwd: code.root,
      env: { ...bareEnvironment(), ...deployment.environment, ...common(code) },
    });
    return stdout;
  }

  async function startAll(): Promise<void> {
    // The first makes what the others share: tables, search attributes, the bundle.
    await installation.startWorker(0);
    await Promise.all([installation.startWorker(1), installation.startApi(0), installation.startApi(1)]);
  }

  const installation: Installation = {
    deployment,
    database,
    temporal,
    workflows,
    desks,
    plain,
    booked,
    apiUrls,
    apis,
    workers,
    startApi: (place, options) => start('server', place, options),
    startWorker: (place, options) => start('worker', place, options),
    launch: (entry, place, code, clockShiftMs) => launch(entry, place, { checkout: code, clockShiftMs }),
    lines,
    restartPooler: async (afterMs) => pooler?.restart(database.url(), afterMs),
    async rotatePassword(learntAfterMs) {
      await database.rotatePassword();
      await sleep(learntAfterMs);
      await pooler?.restart(database.url());
      writeSecrets();
    },
    async createNamespace(namespace) {
      const day = { seconds: 24 * 3600 } as never;
      await connection.workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: day,
      });
    },
    async copyDatabase(to) {
      await Promise.all([...apis, ...workers].map((running) => running.kill('SIGTERM')));
      const url = await database.copy(to);
      await startAll();
      return url;
    },
    command,
    async rollBackTo(code) {
      await command(['versions', 'rollback'], code).catch((error: Error) => {
        // Two releases may have the same workflow code, or the command had gone back before its connection was lost.
        if (!error.message.includes('There is no version to go back to')) throw error;
      });
    },
    spawn(entry, more) {
      const service = deployment.spawn(entry, { ...common(checkout), ...more });
      logged.push({ entry, service });
      return service;
    },
    log: () => logLines(logged).join('\n'),
    client: (place = 0) => deployment.client('alice', apiUrls[place]),
    stop: () => deployment.stop(),
  };
  try {
    if (isUnversioned) {
      await installation.startWorker(0, { program: 'test/operations/unversioned-worker.ts' });
      await Promise.all([installation.startApi(0), installation.startApi(1)]);
    } else await startAll();
  } catch (error) {
    process.stderr.write(`${installation.log()}\n`);
    await deployment.stop();
    throw error;
  }
  return installation;
}

async function startPooler(databaseUrl: string) {
  const found = await findPgBouncer();
  return found.kind === 'ready' ? startPgBouncer(found, databaseUrl) : undefined;
}

/** A server whose tool asks nothing, does something that is not to be repeated, and counts it: for approvals. */
async function startPlainServer() {
  /** Cities, in their order. */
  const done: string[] = [];
  const build = () => {
    const server = new McpServer({ name: 'plain', version: '1' });
    server.registerTool('visit', { inputSchema: z.object({ city: z.string() }) }, ({ city }) => {
      done.push(city);
      return text(`visit: ${city}`);
    });
    return server;
  };
  const { config, stop } = await startMcpServer({ era: 'modern', build });
  return { url: config.url, done, stop };
}

/** Without what Temporal's core says about every attempt to reach a server that is away, and without stacks. */
function logLines(processes: { entry: Entry; service: ServiceProcess }[]): string[] {
  const lines = processes.flatMap(({ entry, service }) =>
    service
      .output()
      .split('\n')
      .filter((line) => line !== '')
      .map((text) => ({ name: `${entry} ${service.pid}`, ...readLine(text) })),
  );
  return lines
    .filter(({ message }) => !message.startsWith('gRPC call') && !message.startsWith('Failing workflow task'))
    .toSorted((one, other) => one.time - other.time)
    .map(
      ({ name, time, message }) =>
        `${new Date(time).toISOString().slice(11)} ${name}: ${message.slice(0, 240)}`,
    );
}

function readLine(text: string): { time: number; message: string } {
  try {
    const { time, msg, err, temporal, turnId } = JSON.parse(text) as {
      time: number;
      msg: string;
      err?: { message?: string };
      temporal?: { error?: { message?: string; type?: string }; workflowId?: string };
      turnId?: string;
    };
    const about = [
      turnId,
      temporal?.workflowId,
      err?.message,
      temporal?.error?.type,
      temporal?.error?.message,
    ];
    return { time, message: [msg, ...about.filter((part) => part !== undefined)].join(' · ') };
  } catch {
    return { time: 0, message: text };
  }
}
