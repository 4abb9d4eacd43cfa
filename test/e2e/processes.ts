/**
 * The program's own processes, started, killed and started again as an operator would. What they write is kept
 * for the moment something fails, and none of them outlives the test.
 */
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnBound } from '../../src/platform/development/temporal-server.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { follow } from '../programs/running-program.ts';
import type { End } from '../programs/running-program.ts';

/** The command that starts it. */
export type Entry = 'start' | 'dev' | 'server' | 'worker';

export interface ServiceProcess {
  pid: number;
  /** Everything written so far, both streams, without colours. */
  output(): string;
  ended: Promise<End>;
  isAlive(): boolean;
  /** Resolves when it is gone. */
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<End>;
}

const root = path.resolve(import.meta.dirname, '../..');
const readyTimeoutMs = 90_000;
const pollMs = 40;

/** What a process runs, unless it is the program of this checkout. */
export interface Code {
  /** The folder of another checkout. */
  checkout?: string;
  /** A file within it. */
  program?: string;
}

/** Nothing of the tester's own configuration reaches the process. */
export function spawnService(
  entry: Entry,
  env: Record<string, string>,
  { checkout = root, program = 'src/cli/checkout.ts' }: Code = {},
): ServiceProcess {
  const child = spawnBound(process.execPath, [program, entry], {
    cwd: checkout,
    env: { ...bareEnvironment(), ...env },
  });
  const { written, pid, ended, isAlive, kill } = follow(child, `interlude ${entry}`);
  // oxlint-disable-next-line no-control-regex -- that is what colours are made of
  const output = () => written.both.replaceAll(/\u001B\[\d*m/g, '');
  return { pid, output, ended, isAlive, kill };
}

/** Resolves when the process lacks nothing: an API says so at /readyz, a worker in its log. */
export async function untilReady(service: ServiceProcess, baseUrl: string | undefined): Promise<void> {
  let end: End | undefined;
  void service.ended.then((how) => (end = how));
  const isReady = () =>
    baseUrl === undefined
      ? service.output().includes('worker ready on task queue')
      : lacking(baseUrl).then((names) => names.length === 0);
  for (const deadline = Date.now() + readyTimeoutMs; Date.now() < deadline; await sleep(pollMs)) {
    if (end)
      throw new Error(`It ended with ${end.code ?? end.signal} before it was ready:\n${service.output()}`);
    if (await isReady()) return;
  }
  throw new Error(`It was not ready after ${readyTimeoutMs / 1000} s:\n${service.output()}`);
}

/** The status of /readyz; 0 when nothing answers. */
export async function readiness(baseUrl: string): Promise<number> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}

/** The names of what /readyz says is missing, warnings included; `answer` when nothing answers. */
export async function lacking(baseUrl: string): Promise<string[]> {
  try {
    const response = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(5_000) });
    const { notReady = [], warnings } = (await response.json()) as Record<string, { name: string }[]>;
    return [...notReady, ...(warnings ?? [])].map(({ name }) => name);
  } catch {
    return ['answer'];
  }
}
