/**
 * Pages around the widget: one of a React app that has the package installed, rendered on a server first, and a plain one
 * that loads the script of the service. Of another origin than the service, in a real browser.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import { startDevelopmentServer } from '../../../test/development-server.ts';
import { installPackages, withTools } from '../../../test/package/installed.ts';
import type { Project } from '../../../test/package/installed.ts';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { complaintsOf } from '../../../test/browsers/findings.ts';
import { createOpenAIServer } from '../../../test/servers/openai-server.ts';
import type { OpenAIServer } from '../../../test/servers/openai-server.ts';
import { serve } from '../../../test/servers/serve.ts';
import { startService } from '../../../test/service/service.ts';
import type { Service } from '../../../test/service/service.ts';

const script = path.resolve(import.meta.dirname, '../../../test/fixtures/script.ts');

export interface HostPages extends AsyncDisposable {
  service: Service;
  /** The model of the agent `seer`, which says "Noted." to everything. */
  model: OpenAIServer;
  visit(page: 'react' | 'plain'): Promise<HostVisit>;
}

export interface HostVisit {
  page: Page;
  api: string;
  /** Requests under this user's token that the page has begun and not ended. */
  open(user: 'alice' | 'bob'): string[];
  /** Fails when the page has complained of anything but what is named. */
  leave(expected?: RegExp): Promise<void>;
}

export async function setUpHostPages(): Promise<HostPages> {
  const stack = new AsyncDisposableStack();
  const [temporal, browser, project] = await Promise.all([
    startDevelopmentServer(),
    launchChromium(),
    installPackages(['react', 'react-dom']),
  ]);
  stack.defer(() => temporal.stop());
  stack.defer(() => browser.close());
  stack.defer(() => project.remove());
  const model = await createOpenAIServer({ reply: () => ({ kind: 'text', chunks: ['Noted.'] }) });
  stack.defer(() => model.stop());
  const folder = await mkdtemp(path.join(tmpdir(), 'interlude-host-'));
  stack.defer(() => rm(folder, { recursive: true }));
  const agents = `
providers: { scripted: { script: ${script} }, openai-compatible: { baseURL: ${model.baseURL} } }
servers: { tracker: { title: Tracker, url: '\${TRACKER_URL}' } }
agents:
  assistant: { title: Assistant, model: scripted, servers: [tracker] }
  seer: { title: Seer, model: 'openai-compatible:any' }
`;
  await writeFile(path.join(folder, 'agents.yaml'), agents);

  const [files, rendered] = await Promise.all([bundleApp(project), renderApp(project)]);
  const tokens = new Map<string, string>();
  let api = '';
  const { origin, stop } = await serve(({ response, url }) => {
    const code = files.get(url.pathname.slice(1));
    if (code !== undefined) return void response.setHeader('content-type', 'text/javascript').end(code);
    if (url.pathname === '/token') return void response.end(tokens.get(url.searchParams.get('user') ?? ''));
    response.setHeader('content-type', 'text/html; charset=utf-8');
    const page = url.pathname === '/react' ? `${rendered}</main>${load('/host.js')}` : `</main>`;
    return void response.end(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,"><main>${page}`,
    );
  });
  stack.defer(stop);
  const service = await startService({
    temporal,
    env: { INTERLUDE_CONFIG: path.join(folder, 'agents.yaml'), CORS_ORIGINS: origin },
  });
  stack.defer(() => service.stop());
  api = service.baseUrl;
  for (const user of ['alice', 'bob']) tokens.set(user, await service.token(user));

  return {
    service,
    model,
    visit: (name) => visit({ browser, api, tokens, address: `${origin}/${name}` }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const load = (source: string) => `<script type="module" src="${source}"></script>`;

interface Setting {
  browser: Browser;
  api: string;
  tokens: Map<string, string>;
  address: string;
}

async function visit({ browser, api, tokens, address }: Setting): Promise<HostVisit> {
  const context = await browser.newContext({ locale: 'en', viewport: { width: 900, height: 700 } });
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  const open = new Map<unknown, { user: string; url: string }>();
  page.on('request', (request) => {
    const bearer = request.headers()['authorization'] ?? '';
    for (const [user, token] of tokens)
      if (bearer === `Bearer ${token}`) open.set(request, { user, url: request.url() });
  });
  page.on('requestfinished', (request) => void open.delete(request));
  page.on('requestfailed', (request) => void open.delete(request));
  await page.goto(address);
  return {
    page,
    api,
    open: (user) => [...open.values()].filter((one) => one.user === user).map(({ url }) => url),
    async leave(expected) {
      await context.close();
      const unexpected = complaints.filter((text) => expected?.test(text) !== true);
      if (unexpected.length > 0) throw new Error(unexpected.join('\n'));
    },
  };
}

/** As an app's bundler does it: the widget stays a file of its own, loaded when it is needed. */
async function bundleApp({ folder }: Project): Promise<Map<string, string>> {
  const build = await rolldown({
    input: path.join(folder, 'host.jsx'),
    platform: 'browser',
    onLog: (level, log, next) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : next(level, log)),
    // Strict mode runs effects twice where React is in development.
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
  });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return new Map(
    output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code] as const] : [])),
  );
}

async function renderApp({ folder }: Project): Promise<string> {
  const args = [path.join(folder, 'render.mjs')];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env: withTools() });
  return stdout.trim();
}
