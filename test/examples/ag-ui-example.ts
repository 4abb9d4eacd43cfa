/** `examples/ag-ui` as its users have it: a folder with its packages, `npm start`, a browser, and the service beside it. */
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { installInto, run } from '../../scripts/setup/steps.mjs';
import { cacheFolder } from '../../scripts/setup/tools.mjs';
import { bareEnvironment } from '../bare-environment.ts';
import { launchChromium } from '../browsers/chromium.ts';
import { spawnService, untilReady } from '../e2e/processes.ts';
import type { ServiceProcess } from '../e2e/processes.ts';
import { freePort } from '../free-port.ts';
import { startProgram } from '../programs/running-program.ts';

export type PageName = 'assistant-ui' | 'copilotkit';

export interface Example {
  browser: Browser;
  /** Of the pages. */
  origin: string;
  /** Of the service. */
  baseUrl: string;
  folder: string;
  /** What the processes have written, for when something fails. */
  output(): string;
  kill(): Promise<void>;
  /** With other settings, until the next restart. */
  restart(settings?: Record<string, string>): Promise<void>;
  stop(): Promise<void>;
}

const root = path.resolve(import.meta.dirname, '../..');
const source = path.join(root, 'examples/ag-ui');

/** CopilotKit's packages are large: without its page, they are not installed. */
export async function startExample(pages: PageName[]): Promise<Example> {
  await using stack = new AsyncDisposableStack();
  const home = await mkdtemp(path.join(tmpdir(), 'interlude-example-'));
  stack.defer(() => rm(home, { recursive: true }));
  const folder = await prepare(home, pages);
  const names = ['PORT', 'DEMO_IDENTITY_PORT', 'DEMO_TRACKER_PORT', 'DEMO_TRAVEL_PORT', 'DEMO_DESK_PORT']
    .concat('DEMO_FLIGHTS_PORT', 'TEMPORAL_PORT', 'TEMPORAL_UI_PORT')
    .map(async (name) => [name, String(await freePort())] as const);
  const env: Record<string, string> = {
    ...Object.fromEntries(await Promise.all(names)),
    INTERLUDE_DATA: path.join(home, 'data'),
  };
  const baseUrl = `http://127.0.0.1:${env['PORT']}`;
  const port = String(await freePort());

  let service: ServiceProcess | undefined;
  stack.defer(async () => void (await service?.kill('SIGTERM')));
  async function restart(settings: Record<string, string> = {}) {
    service = spawnService('start', { ...env, ...settings });
    await untilReady(service, baseUrl);
  }
  const pagesProcess = startProgram(
    process.execPath,
    ['node_modules/vite/bin/vite.js', '--host', '127.0.0.1', '--port', port, '--strictPort'],
    { cwd: folder, env: { ...bareEnvironment(), ...env, INTERLUDE_URL: baseUrl } },
  );
  stack.defer(async () => void (await pagesProcess.kill('SIGTERM')));
  const browser = await launchChromium();
  stack.defer(() => browser.close());
  await Promise.all([restart(), pagesProcess.sees('ready in')]);

  const whole = stack.move();
  return {
    browser,
    origin: `http://127.0.0.1:${port}`,
    baseUrl,
    folder,
    output: () => `${pagesProcess.written.both}\n${service?.output().slice(-4_000)}`,
    kill: async () => void (await service?.kill('SIGKILL')),
    restart,
    stop: () => whole.disposeAsync(),
  };
}

/** A copy of the example where it finds the program, with its packages from the cache. */
async function prepare(home: string, pages: PageName[]): Promise<string> {
  const folder = path.join(home, 'examples/ag-ui');
  cpSync(source, folder, { recursive: true, filter: (name) => !name.includes('node_modules') });
  mkdirSync(path.join(home, 'src'));
  symlinkSync(path.join(root, 'src/cli'), path.join(home, 'src/cli'));
  const wanted = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  if (!pages.includes('copilotkit')) {
    for (const name of ['copilotkit.html', 'src/copilotkit.tsx', 'backend/copilotkit-runtime.ts'])
      await rm(path.join(folder, name));
    for (const name of Object.keys(wanted.dependencies))
      if (name.startsWith('@copilotkit/')) delete wanted.dependencies[name];
  }
  const manifest = JSON.stringify(wanted);
  const hash = createHash('sha256').update(manifest).digest('hex').slice(0, 12);
  const installed = path.join(cacheFolder, 'npm-programs', `ag-ui-example-${hash}`);
  await installInto(installed, async (draft) => {
    writeFileSync(path.join(draft, 'package.json'), manifest);
    await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', draft]);
  });
  // A folder of its own: Vite keeps its cache there, which two examples must not share.
  const modules = path.join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(path.join(installed, 'node_modules')))
    if (name !== '.vite') symlinkSync(path.join(installed, 'node_modules', name), path.join(modules, name));
  return folder;
}
