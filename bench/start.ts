/** How soon `interlude start` is up, with its own Temporal, on a data folder that it has used before. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../src/platform/network/ports.ts';
import { startTemporalServer } from '../src/platform/development/temporal-server.ts';
import { createLogger } from '../src/platform/telemetry/logger.ts';
import { median } from './report.ts';
import type { Section } from './report.ts';
import { timed } from './setup.ts';
import type { BenchSetup } from './setup.ts';

const demoServers = ['IDENTITY', 'TRACKER', 'TRAVEL', 'DESK', 'FLIGHTS'];
const program = fileURLToPath(new URL('../src/cli/interlude.mjs', import.meta.url));

export async function start({ samples }: BenchSetup): Promise<Section> {
  const count = Math.ceil(samples / 5);
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-bench-start-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const ours: number[] = [];
  const memory: number[] = [];
  const floor: number[] = [];
  for (let sample = 0; sample <= count; sample++) {
    const bare = await startTemporal(path.join(folder, 'bare'));
    const own = await startOurs(path.join(folder, 'own'));
    // The first time there is nothing to go on with.
    if (sample === 0) continue;
    floor.push(bare);
    ours.push(own.ms);
    memory.push(own.kibibytes);
  }
  return {
    title: 'Until it can be talked to',
    rows: [
      {
        name: 'interlude start / its Temporal',
        meaning:
          'from the command to a service that says it is ready, against the Temporal development server alone',
        ours,
        floor,
        unit: 'ms',
      },
      {
        name: 'memory when ready',
        meaning:
          'resident in all processes that it has started, Temporal included; shared pages counted once',
        ours: memory,
        unit: 'KiB',
      },
    ],
    aims: [
      {
        name: 'memory when ready',
        value: median(memory) / 1024,
        atMost: 460,
        because: 'MiB, 0.45 GB',
      },
      { name: 'interlude start', value: median(ours), atMost: 3_000, because: '3 s' },
    ],
  };
}

async function startTemporal(dataDir: string): Promise<number> {
  const logger = createLogger({ level: 'error', human: true });
  const ports = { port: await freePort('127.0.0.1'), uiPort: await freePort('127.0.0.1') };
  let stop: () => Promise<void> = async () => undefined;
  const ms = await timed(async () => {
    const server = await startTemporalServer({
      temporal: { namespace: 'default', ...ports },
      dataDir,
      logger,
    });
    stop = () => server.stop();
  });
  await stop();
  return ms;
}

async function startOurs(dataDir: string): Promise<{ ms: number; kibibytes: number }> {
  const port = await freePort('127.0.0.1');
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    INTERLUDE_DATA: dataDir,
    PORT: String(port),
    ...(await freePorts(['TEMPORAL', 'TEMPORAL_UI', ...demoServers.map((name) => `DEMO_${name}`)])),
    LOG_LEVEL: 'error',
  };
  let service: ReturnType<typeof spawn> | undefined;
  const ms = await timed(async () => {
    service = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    while (!(await isReady(port))) {
      if (service.exitCode !== null) throw new Error('the service did not start');
      await sleep(20);
    }
  });
  const kibibytes = await residentFrom(service?.pid ?? 0);
  if (service?.exitCode === null) {
    const ended = once(service, 'exit');
    service.kill('SIGTERM');
    await ended;
  }
  return { ms, kibibytes };
}

/** Of this process and all below it; not a number where the system does not say. */
async function residentFrom(pid: number): Promise<number> {
  const own = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const [, size = NaN] = /^Pss:\s+(\d+)/m.exec(own) ?? [];
  const below = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = below.split(' ').filter(Boolean).map(Number);
  const sizes = await Promise.all(children.map(residentFrom));
  return sizes.reduce((sum, each) => sum + each, Number(size));
}

async function freePorts(names: string[]): Promise<Record<string, string>> {
  const ports = await Promise.all(
    names.map(async (name) => [`${name}_PORT`, String(await freePort('127.0.0.1'))] as const),
  );
  return Object.fromEntries(ports);
}

async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    async (response) => {
      const { warnings = [] } = (await response.json()) as { warnings?: unknown[] };
      return response.ok && warnings.length === 0;
    },
    () => false,
  );
}
