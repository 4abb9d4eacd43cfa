/**
 * The program's surroundings, which run inside the test: the issuer, Tracker, people and clients. The program itself is
 * started as processes.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import type { Tracker } from '../../demo/tracker/tracker.ts';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import { freePort } from '../free-port.ts';
import { startDependencies } from '../service/dependencies.ts';
import { createCaller } from '../service/user.ts';
import type { Caller } from '../service/user.ts';
import { spawnService, untilReady } from './processes.ts';
import type { Code, Entry, ServiceProcess } from './processes.ts';

export type User = 'alice' | 'bob';

export interface Deployment {
  dataDir: string;
  /** Where clients and browsers find the service. */
  baseUrl: string;
  tracker: Tracker;
  /** The environment of all our processes. */
  environment: Record<string, string>;
  /** Starts a process of ours and waits until it is ready; `env` adds to what they all have in common. */
  start(entry: Entry, env?: Record<string, string>): Promise<ServiceProcess>;
  /** Like `start`, without waiting. */
  spawn(entry: Entry, env?: Record<string, string>, code?: Code): ServiceProcess;
  client(user: User, baseUrl?: string): Client;
  /** For clients other than ours. */
  token(user: User): Promise<string>;
  /** Over plain HTTP, for what the client hides. */
  caller(user: User): Promise<Caller>;
  /** What all processes have written, for when something fails. */
  output(): string;
  /** Runs when the deployment ends, before its parts are stopped. */
  defer(work: () => unknown): void;
  stop(): Promise<void>;
}

export interface DeploymentOptions {
  /** Where the service is found; a free port unless given. */
  port?: number;
  env?: Record<string, string>;
}

const agentsFile = fileURLToPath(new URL('../fixtures/e2e-agents.yaml', import.meta.url));
/** Clients that are quick to come back: what is tested is that they do. */
const timing = { firstRetryMs: 50, lastRetryMs: 500 };

/** For tests without the embedded defaults. */
export const someKeys = `k1:${randomBytes(32).toString('base64')}`;

export async function createDeployment({ port, env = {} }: DeploymentOptions = {}): Promise<Deployment> {
  const stack = new AsyncDisposableStack();
  const { dataDir, baseUrl, tracker, identity, env: dependencyEnv } = await startDependencies(stack, port);
  const common = {
    ...dependencyEnv,
    PUBLIC_URL: baseUrl,
    INTERLUDE_CONFIG: agentsFile,
    INTERLUDE_DATA: path.join(dataDir, 'interlude'),
    TEMPORAL_PORT: String(await freePort()),
    TEMPORAL_UI_PORT: String(await freePort()),
    ...env,
  };

  const processes: { entry: Entry; service: ServiceProcess }[] = [];
  stack.defer(async () => {
    await Promise.all(processes.map(({ service }) => service.kill('SIGKILL')));
  });
  const spawn: Deployment['spawn'] = (entry, more = {}, code) => {
    const service = spawnService(entry, { ...common, ...more }, code);
    processes.push({ entry, service });
    return service;
  };
  const tokenOf = (user: User) => demoToken(identity.issuer, user);

  return {
    dataDir,
    baseUrl,
    tracker,
    environment: common,
    spawn,
    async start(entry, more = {}) {
      const service = spawn(entry, more);
      const own = `http://127.0.0.1:${more['PORT'] ?? common.PORT}`;
      await untilReady(service, entry === 'worker' ? undefined : own);
      return service;
    },
    client: (user, at = baseUrl) =>
      createClient({
        baseUrl: at,
        token: () => tokenOf(user),
        capabilities: { url: true, form: true },
        timing,
      }),
    token: tokenOf,
    caller: async (user) => createCaller(baseUrl, await tokenOf(user)),
    output: () =>
      processes
        .map(({ entry, service }) => `── ${entry} (${service.pid}) ──\n${service.output().slice(-8_000)}`)
        .join('\n'),
    defer: (work) =>
      stack.defer(async () => {
        await work();
      }),
    stop: () => stack.disposeAsync(),
  };
}

/** As `afterEach`: shows what the processes had to say about a test that failed. */
export function showOutput(deployment: () => Deployment) {
  return ({ task }: { task: { result?: { state: string } } }) => {
    if (task.result?.state === 'fail') process.stderr.write(`${deployment().output()}\n`);
  };
}
