/** `examples/react-chat` in a real browser, with the hooks of AI SDK 5, 6 and 7, against the whole service. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { rolldown } from 'rolldown';
import type { OutputChunk } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listen } from '../../../demo/listen.ts';
import type { Listening } from '../../../demo/listen.ts';
import { startTravelDesk } from '../../../demo/travel/travel.ts';
import { launchChromium } from '../../../test/browsers/chromium.ts';
import { freePort } from '../../../test/free-port.ts';
import { startTcpProxy } from '../../../test/servers/tcp-proxy.ts';
import type { TcpProxy } from '../../../test/servers/tcp-proxy.ts';
import { connectAccount } from '../../../test/service/connect-account.ts';
import { startService } from '../../../test/service/service.ts';
import type { Service } from '../../../test/service/service.ts';
import { useDevelopmentServer } from '../../../test/service/use-development-server.ts';
import { open, question } from '../../../test/storage/contract/question.ts';
import { holdMessages } from './widget-page.ts';

/** `examples/react-chat`, bundled with the hooks of one version of the AI SDK, in a page of another origin than the service's. */
const root = path.resolve(import.meta.dirname, '../../..');
const example = path.join(root, 'examples/react-chat');
const entry = path.join(example, 'src/main.tsx');
const client = path.join(root, 'packages/client/src/index.ts');
const modules = path.join(root, 'node_modules');

/** Each brings the `ai` that it was made for along. */
const hooks = { 5: 'ai-sdk-react5', 6: 'ai-sdk-react6', 7: '@ai-sdk/react' } as const;
type Version = keyof typeof hooks;
const versions: readonly Version[] = [5, 6, 7];

/** The folders to take instead of what the example's `package.json` names. */
function packagesOf(version: Version): Record<'@ai-sdk/react' | 'ai', string> {
  const react = path.join(modules, hooks[version]);
  return {
    '@ai-sdk/react': react,
    ai: path.join(version === 7 ? modules : path.join(react, 'node_modules'), 'ai'),
  };
}

interface ExamplePage {
  origin: string;
  /** Where the page finds the service from now on. */
  service: string;
  /** From the product's own backend, for the signed-in person. */
  token: string;
  /** Files it was made of. */
  modules: string[];
  stop: Listening['stop'];
}

async function serveExample(version: Version): Promise<ExamplePage> {
  const { code, moduleIds: modules } = await bundle(version);
  const html = await readFile(path.join(example, 'index.html'), 'utf8');
  const server = createServer((request, response) => {
    if (request.url === '/token') return void response.end(`${page.token}\n`);
    const isScript = request.url === '/src/main.tsx';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    return void response.end(isScript ? code : html.replace('http://127.0.0.1:3000', page.service));
  });
  const { port, stop } = await listen(server, 0, 'PORT');
  const page = { origin: `http://127.0.0.1:${port}`, service: '', token: '', modules, stop };
  return page;
}

async function bundle(version: Version): Promise<OutputChunk> {
  const build = await rolldown({
    input: entry,
    platform: 'browser',
    resolve: { alias: { ...packagesOf(version), '@interlude-ai/client': client } },
    // React then says what is wrong.
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    onLog: (level, log, next) => (log.code === 'MODULE_LEVEL_DIRECTIVE' ? undefined : next(level, log)),
  });
  try {
    const { output } = await build.generate({ format: 'esm' });
    return output[0];
  } finally {
    await build.close();
  }
}

const agentsFile = path.join(root, 'test/fixtures/widget-agents.yaml');
const stack = new AsyncDisposableStack();
const temporal = useDevelopmentServer();
const pages = new Map<Version, ExamplePage>();
let folder: string;
let browser: Browser;
let service: Service;
let line: TcpProxy;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'interlude-example-'));
  stack.defer(() => rm(folder, { recursive: true }));
  browser = await launchChromium();
  stack.defer(() => browser.close());
  for (const version of versions) {
    const page = await serveExample(version);
    stack.defer(() => page.stop());
    pages.set(version, page);
  }
  const travel = await startTravelDesk({ port: await freePort(), dataDir: folder });
  stack.defer(() => travel.stop());
  const origins = [...pages.values()].map(({ origin }) => origin);
  const env = { INTERLUDE_CONFIG: agentsFile, TRAVEL_URL: travel.url, CORS_ORIGINS: origins.join(',') };
  service = await startService({ temporal, env });
  stack.defer(() => service.stop());
  line = await startTcpProxy({ to: Number(new URL(service.baseUrl).port) });
  stack.defer(() => line.stop());
}, 120_000);
afterAll(() => stack.disposeAsync());

function pageOf(version: Version): ExamplePage {
  const page = pages.get(version);
  if (!page) throw new Error(`no page for ${version}`);
  return page;
}

interface Visitor {
  page: Page;
  say(text: string): Promise<void>;
  /** Fails on every error of the browser but these. */
  leave(expected?: RegExp): Promise<void>;
}

async function visit(version: Version, user: 'alice' | 'bob', api = service.baseUrl): Promise<Visitor> {
  const served = pageOf(version);
  served.service = api;
  served.token = await service.token(user);
  const page = await browser.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  await page.goto(served.origin);
  return {
    page,
    async say(text) {
      await page.getByRole('textbox', { name: 'Message' }).fill(text);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
    },
    async leave(expected) {
      await page.close();
      expect(complaints.filter((text) => !expected?.test(text))).toEqual([]);
    },
  };
}

const conversationOf = (page: Page) => new URL(page.url()).hash.slice(1);

/** Somewhere else, and until the turn is over. */
async function declineAs(user: 'bob', conversationId: string): Promise<void> {
  const caller = await service.as(user);
  const path = `/run/v1/conversations/${conversationId}`;
  const { body } = await caller.request('GET', `${path}/elicitations?status=pending`);
  const [open] = body['items'] as { elicitationId: string }[];
  await caller.answer({ conversationId, elicitationId: open?.elicitationId ?? 'none', action: 'decline' });
  await expect.poll(async () => (await caller.request('GET', path)).body['turn']).toBe(null);
}

describe.each(versions)('the React app with the hooks of AI SDK %i', (version) => {
  test('is made of them, once each, and its types hold', async () => {
    const packages = packagesOf(version);
    const versionOf = (name: keyof typeof packages) =>
      (JSON.parse(readFileSync(path.join(packages[name], 'package.json'), 'utf8')) as { version: string })
        .version;
    expect([versionOf('ai'), versionOf('@ai-sdk/react')].map((text) => Number.parseInt(text, 10))).toEqual([
      version,
      version - 3,
    ]);
    const made = pageOf(version).modules.filter((id) => /[\\/]ai[\\/]dist[\\/]/.test(id));
    expect(made.map((id) => id.startsWith(packages.ai + path.sep))).toEqual([true]);

    const sources = Object.entries({ ...packages, '@interlude-ai/client': client });
    const paths = Object.fromEntries(sources.map(([name, where]) => [name, [where]]));
    const config = path.join(folder, `tsconfig-${version}.json`);
    const compilerOptions = { types: [], module: 'esnext', moduleResolution: 'bundler', paths };
    await writeFile(
      config,
      JSON.stringify({
        extends: path.join(root, 'tsconfig.json'),
        compilerOptions,
        include: [],
        files: [entry],
      }),
    );
    const { stdout } = await promisify(execFile)('tsc', ['-p', config, '--listFiles']);
    expect(stdout).toContain(packages.ai);
  });

  test('goes on by itself once the account is connected, also after a reload, and shows everything once', async () => {
    service.tracker.revoke('alice');
    const { page, say, leave } = await visit(version, 'alice');
    await say('list my open issues');
    const link = page.getByRole('link', { name: /^Open 127\.0\.0\.1/ });
    await link.waitFor();
    await page.reload();
    const url = (await link.getAttribute('href')) ?? '';
    expect(await link.count()).toBe(1);
    await connectAccount('alice', url);
    await page.getByText('Tracker: done').waitFor();
    const answer = page.getByText('Checkout button stays disabled');
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    const shown = await page.getByRole('log').innerText();
    expect(await answer.count()).toBe(1);
    await page.reload();
    await answer.waitFor();
    expect(await page.getByRole('log').innerText()).toBe(shown);
    await say('hello');
    await page.getByText('You said: hello').waitFor();
    await leave();
  });

  test('takes “Not now” for an answer', async () => {
    const { page, say, leave } = await visit(version, 'bob');
    await say('list my open issues');
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.getByText('Tracker: not now').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await page.getByRole('article').count()).toBe(2);
    await leave();
  });

  test('says at the field of a form what the service finds wrong, and sends it corrected', async () => {
    const { page, say, leave } = await visit(version, 'bob');
    await say('call travel__book_trip {"destination":"Lisbon"}');
    const form = page.getByRole('region', { name: 'Question from Travel Desk' });
    await form.waitFor();
    await page.reload();
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await form.getByLabel(/^Traveller/).fill('Ada Lovelace');
    await form.getByLabel(/^Email/).fill('ada@example.com');
    await form.getByLabel(/^Day of departure/).fill(tomorrow);
    await form.getByLabel(/^Taxi/).fill(`${tomorrow}T12:00`);
    await form.getByLabel(/^Budget/).fill('5');
    await form.getByLabel(/^Window seat/).uncheck();
    await form.getByLabel(/^Class/).selectOption('Business');
    await form.getByLabel(/^Extras/).selectOption(['Airport lounge', 'Cancellation insurance']);
    await form.getByRole('button', { name: 'Send answer' }).click();
    await form.locator('label', { hasText: 'Budget' }).getByText('at least 100').waitFor();
    await form.getByLabel(/^Budget/).fill('900');
    await form.getByRole('button', { name: 'Send answer' }).click();
    await page.getByText('Travel Desk: done').waitFor();
    await page.getByText(/Booked .*Lisbon/).waitFor();
    await leave(/status of 422/);
  });

  test('ends a turn with Stop, and its question with it', async () => {
    const { page, say, leave } = await visit(version, 'bob');
    await say('list my open issues');
    await page.getByRole('link', { name: /^Open/ }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByText('Tracker: no longer needed').waitFor();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await leave();
  });

  test.each(['cut', 'halfClose'] as const)(
    'comes back when its line is lost (%s), to the question or to what became of it',
    async (mishap) => {
      const { page, say, leave } = await visit(version, 'bob', line.url);
      const link = page.getByRole('link', { name: /^Open/ });
      const settled = page.getByText('Tracker: not now');
      const notNow = page.getByRole('button', { name: 'Not now' });
      const isIdle = page.getByRole('button', { name: 'Send', exact: true });
      await say('list my open issues');
      await link.waitFor();
      const replay = page.waitForResponse((response) => response.url().endsWith('/stream'));
      line[mishap]();
      expect((await replay).status()).toBe(200);
      await notNow.click();
      await settled.waitFor();
      await isIdle.waitFor();
      expect(await page.getByRole('article').count()).toBe(2);

      await say('list my open issues');
      await link.waitFor();
      line.refuse();
      line[mishap]();
      await declineAs('bob', conversationOf(page));
      line.accept();
      await settled.nth(1).waitFor();
      await isIdle.waitFor();
      expect(await page.getByRole('article').count()).toBe(4);
      expect(await settled.count()).toBe(2);
      await leave(/net::ERR_/);
    },
  );

  test('keeps a message that is sent while it is about to come back to a lost turn', async () => {
    const { page, say, leave } = await visit(version, 'bob', line.url);
    await page.clock.install();
    await say('list my open issues');
    await page.getByRole('link', { name: /^Open/ }).waitFor();
    await page.clock.pauseAt(Date.now() + 60_000);
    const isRead = page.waitForResponse((response) => response.url().includes('/run/v1/conversations/'));
    line.cut();
    await (await isRead).finished();
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    const { sent, release } = await holdMessages(page);
    await say('never mind');
    await sent;
    await page.clock.runFor(5_000);
    expect(await page.getByRole('article').allInnerTexts()).toContain('never mind');
    release();
    await page.getByText('You said: never mind').waitFor();
    await expect.poll(() => page.getByRole('article').count()).toBe(4);
    await leave(/net::ERR_/);
  });

  test('misses no answer that came while it was loaded again', async () => {
    const { page, say, leave } = await visit(version, 'bob');
    await say('list my open issues');
    await page.getByRole('link', { name: /^Open/ }).waitFor();
    await page.route('**/stream', async (route) => {
      await declineAs('bob', conversationOf(page));
      await route.continue();
    });
    const stream = page.waitForResponse('**/stream');
    await page.reload();
    expect((await stream).status()).toBe(204);
    await page.getByText('Tracker: not now').waitFor();
    expect(await page.getByRole('article').count()).toBe(2);
    await leave();
  });

  test('says why a message was refused, keeps it when it has not arrived, and sends it again', async () => {
    const { page, say, leave } = await visit(version, 'bob');
    const served = pageOf(version);
    const { token } = served;
    const again = page.getByRole('button', { name: 'Try again' });
    served.token = 'nonsense';
    await say('hello');
    await again.waitFor();
    expect(await page.getByRole('alert').innerText()).toMatch(/token/);
    served.token = token;
    await again.click();
    await page.getByText('You said: hello').waitFor();

    const lost = '**/run/api/chat';
    await page.route(lost, (route) => route.abort());
    const looked = page.waitForResponse(/conversations/);
    await say('are you there?');
    await (await looked).finished();
    await again.waitFor();
    expect(await page.getByRole('article').count()).toBe(3);
    await page.unroute(lost);
    await again.click();
    await page.getByText('You said: are you there?').waitFor();
    expect(await page.getByRole('article').count()).toBe(4);
    await leave(/status of 401|net::ERR_/);
  });
});

test('an address that is not safe to open is shown, and is no link', async () => {
  const { page, say, leave } = await visit(7, 'bob');
  await say('list my open issues');
  await page.getByRole('link', { name: /^Open/ }).waitFor();
  const { storage } = service;
  const turn = await storage.turns.live({ tenant: 'demo', conversation: conversationOf(page) });
  if (!turn) throw new Error('the turn waits for an account');
  const url = 'http://shop.example/pay';
  const context = { trigger: 'mcp_elicitation', agent: 'Assistant', serverTitle: 'Shop' } as const;
  const request = { mode: 'url', message: 'Pay there.', url, context } as const;
  await open(storage, question(turn, { user: 'bob', server: null, seenVersion: null, request }));
  const card = page.getByRole('region', { name: 'Question from Shop' });
  await card.getByText(url).waitFor();
  expect(await card.getByRole('link').count()).toBe(0);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Shop: no longer needed').waitFor();
  await leave();
});
