/**
 * The program's surroundings, which run inside the test: the issuer, Tracker, people and clients. The program itself is
 * started as processes.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import { createClient } from '@interlude-ai/client/client.ts';
import { startTemporalServer } from '../../src/platform/development/temporal-server.ts';
import { freePort } from '../free-port.ts';
import { startDependencies } from '../service/dependencies.ts';
import { createCaller } from '../service/user.ts';
import { spawnService, untilReady } from './processes.ts';
import type { Code, Entry, ServiceProcess } from './processes.ts';

export type User = 'alice' | 'bob';

export type Deployment = Awaited<ReturnType<typeof createDeployment>>;

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

export async function createDeployment({ port, env = {} }: DeploymentOptions = {}) {
  const stack = new AsyncDisposableStack();
  const { dataDir, baseUrl, tracker, identity, env: dependencyEnv } = await startDependencies(stack, port);
  const common: Record<string, string> = {
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
  const spawn = (entry: Entry, more: Record<string, string> = {}, code?: Code) => {
    const service = spawnService(entry, { ...common, ...more }, code);
    processes.push({ entry, service });
    return service;
  };
  const tokenOf = (user: User) => demoToken(identity.issuer, user);

  return {
    dataDir,
    /** Where clients and browsers find the service. */
    baseUrl,
    tracker,
    /** The environment of all our processes. */
    environment: common,
    spawn,
    /** Starts a process of ours and waits until it is ready; `more` adds to what they all have in common. */
    async start(entry: Entry, more: Record<string, string> = {}) {
      const service = spawn(entry, more);
      const own = `http://127.0.0.1:${more['PORT'] ?? common['PORT']}`;
      await untilReady(service, entry === 'worker' ? undefined : own);
      return service;
    },
    /** A Temporal of its own, which ends with the deployment. */
    async startTemporal(temporalPort: number) {
      const temporal = await startTemporalServer({
        temporal: { namespace: 'default', port: temporalPort, uiPort: await freePort() },
        dataDir: path.join(dataDir, 'temporal'),
        logger: pino({ level: 'silent' }),
      });
      stack.defer(() => temporal.stop());
      return temporal;
    },
    client: (user: User, at = baseUrl) =>
      createClient({
        baseUrl: at,
        token: () => tokenOf(user),
        capabilities: { url: true, form: true },
        timing,
      }),
    token: tokenOf,
    /** Over plain HTTP, for what the client hides. */
    caller: async (user: User) => createCaller(baseUrl, await tokenOf(user)),
    /** What all processes have written, for when something fails. */
    output: () =>
      processes
        .map(({ entry, service }) => `── ${entry} (${service.pid}) ──\n${service.output().slice(-8_000)}`)
        .join('\n'),
    /** Runs when the deployment ends, before its parts are stopped. */
    defer: (work: () => unknown) =>
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
