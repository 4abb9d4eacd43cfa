/** A folder of `examples/` as its reader has it: its one command, as its README prints it, and the service that it starts. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@interlude-ai/client/client.ts';
import type { Client } from '@interlude-ai/client/client.ts';
import { demoToken } from '@interlude-ai/program/login/demo-token.ts';
import { spawnBound } from '../../src/platform/development/temporal-server.ts';
import { bareEnvironment } from '../bare-environment.ts';
import { untilReady } from '../e2e/processes.ts';
import { freePort } from '../free-port.ts';
import { follow } from '../programs/running-program.ts';

const root = path.resolve(import.meta.dirname, '../..');
const portNames = [
  'PORT',
  'DEMO_IDENTITY_PORT',
  'TEMPORAL_PORT',
  'TEMPORAL_UI_PORT',
  'DEMO_TRACKER_PORT',
  'DEMO_TRAVEL_PORT',
  'DEMO_DESK_PORT',
  'DEMO_FLIGHTS_PORT',
  'SERVER_PORT',
  'APP_PORT',
];

/** For the settings of a service and what it starts. */
export async function freePorts(): Promise<Record<string, string>> {
  const ports = portNames.map(async (name) => [name, String(await freePort())] as const);
  return Object.fromEntries(await Promise.all(ports));
}

/** A copy of the folder at the same place beside a checkout; its data and what its tools write stay there. */
export async function openExample(name: string) {
  const home = mkdtempSync(path.join(tmpdir(), 'interlude-example-'));
  const folder = path.join(home, 'examples', name);
  const source = path.join(root, 'examples', name);
  cpSync(source, folder, {
    recursive: true,
    filter: (file) => !/node_modules|\.interlude|\.venv|\.next/.test(file),
  });
  for (const one of ['node_modules', 'package.json', 'src'])
    symlinkSync(path.join(root, one), path.join(home, one));
  const env = await freePorts();
  const baseUrl = `http://127.0.0.1:${env['PORT']}`;
  const readme = readFileSync(path.join(folder, 'README.md'), 'utf8');
  const [, command = ''] = /```sh\ncd examples\/\S+\n(.+?)(?: +#.*)?\n/.exec(readme) ?? [];

  const readyProcess = async () => {
    const child = spawnBound('/bin/sh', ['-c', command], {
      cwd: folder,
      env: { ...bareEnvironment(), ...env },
    });
    const { pid, written, ended, isAlive } = follow(child, command);
    const kill = async (signal: 'SIGKILL' | 'SIGTERM') => {
      // The command is a group of processes: npm, a shell, a server and the service.
      if (isAlive()) process.kill(-pid, signal);
      return ended;
    };
    await untilReady({ pid, output: () => written.both, ended, isAlive, kill }, baseUrl);
    return { kill, output: () => written.both };
  };
  let running: Awaited<ReturnType<typeof readyProcess>> | undefined;
  return {
    folder,
    env,
    baseUrl,
    read: (file: string) => readFileSync(path.join(folder, file), 'utf8'),
    /** The files that Git takes from a copy in a repository of its own. */
    inRepository() {
      const git = (...options: string[]) => execFileSync('git', options, { cwd: folder, encoding: 'utf8' });
      git('init', '--quiet');
      return git('ls-files', '--others', '--exclude-standard').split('\n');
    },
    client: (user: string): Client =>
      createClient({
        baseUrl,
        token: () => demoToken(`http://127.0.0.1:${env['DEMO_IDENTITY_PORT']}`, user),
        capabilities: { form: true, url: true },
      }),
    start: async () => void (running = await readyProcess()),
    kill: async () => void (await running?.kill('SIGKILL')),
    output: () => running?.output() ?? '',
    async stop() {
      await running?.kill('SIGTERM');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export type Example = Awaited<ReturnType<typeof openExample>>;
