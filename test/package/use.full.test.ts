/** The installed package at work: in Node, and on a page of another origin in a real browser. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { oldest } from '@interlude-ai/core/contract/version.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { launchChromium } from '../browsers/chromium.ts';
import { startTcpProxy } from '../servers/tcp-proxy.ts';
import type { TcpProxy } from '../servers/tcp-proxy.ts';
import { startService } from '../service/service.ts';
import type { Service } from '../service/service.ts';
import { useDevelopmentServer } from '../service/use-development-server.ts';
import { bundle } from './bundle.ts';
import { installPackages, withTools } from './installed.ts';
import type { Project } from './installed.ts';

const run = promisify(execFile);
const temporal = useDevelopmentServer();
const stack = new AsyncDisposableStack();
let project: Project;
let service: Service;
let browser: Browser;
let line: TcpProxy;
/** Of the page, allowed to call the service; and of one that is not. */
let origin: string;
let stranger: string;

beforeAll(async () => {
  const [chromium, installed] = await Promise.all([launchChromium(), installPackages(['ai'])]);
  stack.defer(() => installed.remove());
  stack.defer(() => chromium.close());
  browser = chromium;
  project = installed;
  const { code } = await bundle(path.join(project.folder, 'page.mjs'));
  [origin, stranger] = await Promise.all([servePage(code), servePage(code)]);
  service = await startService({ temporal, env: { CORS_ORIGINS: origin } });
  stack.defer(() => service.stop());
  line = await startTcpProxy({ to: Number(new URL(service.baseUrl).port) });
  stack.defer(() => line.stop());
});
afterAll(() => stack.disposeAsync());

async function servePage(code: string): Promise<string> {
  const server = createServer((request, response) => {
    const isPage = request.url === '/';
    response.setHeader('content-type', isPage ? 'text/html' : 'text/javascript');
    response.end(isPage ? '<!doctype html><body><script type="module" src="/page.js"></script>' : code);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack.defer(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function openPage(at: string): Promise<Page> {
  const page = await browser.newPage();
  stack.defer(() => page.close());
  await page.goto(at);
  await page.waitForFunction(() => document.title === 'ready');
  return page;
}

interface Talk {
  conversationId: string;
  status: string;
  parts: { kind: string }[];
  statuses: string[];
  asked: number;
}

interface Talker {
  talk(baseUrl: string, token: string, text: string): Promise<unknown>;
  decide(action: string): void;
}

function talk(page: Page, baseUrl: string, token: string, text: string): Promise<unknown> {
  const call = ([url, bearer, words]: [string, string, string]) =>
    (globalThis as unknown as Talker).talk(url, bearer, words);
  return page.evaluate(call, [baseUrl, token, text] satisfies [string, string, string]);
}

test('in Node a turn asks, is answered and goes on, its events are read, and an agent is a language model', async () => {
  const token = await service.token('alice');
  const args = [path.join(project.folder, 'node.mjs'), service.baseUrl, token];
  const { stdout } = await run(process.execPath, args, { cwd: project.folder, env: withTools() });
  const seen = JSON.parse(stdout) as { asked: string[]; status: string; events: string[]; text: string };
  expect(seen).toMatchObject({
    asked: [expect.stringContaining('Tracker needs your account')],
    status: 'completed',
    text: 'You said: hello',
  });
  expect(seen.events).toEqual(expect.arrayContaining(['turn-started', 'elicitation-request', 'turn-ended']));
});

test('in a browser a page of another origin is asked, loses the line, answers, and reads the turn to its end', async () => {
  const page = await openPage(origin);
  const talking = talk(page, line.url, await service.token('alice'), 'list my open issues') as Promise<Talk>;
  await page.waitForFunction(() => 'decide' in window && window.decide !== undefined);
  expect(await page.textContent('body')).toContain('Tracker needs your account');

  const again = line.next();
  line.cut();
  await again;
  await page.evaluate(() => (globalThis as unknown as Talker).decide('decline'));
  const told = await talking;
  service.begun(told.conversationId);
  expect(told).toMatchObject({ status: 'completed', asked: 1, statuses: ['reconnecting', 'connected'] });
  expect(told.parts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({
        kind: 'elicitation',
        elicitation: expect.objectContaining({ status: 'decline' }),
      }),
    ]),
  );
});

test('in a browser a refusal is read for what it is', async () => {
  const page = await openPage(origin);
  expect(await talk(page, service.baseUrl, 'nonsense', 'hello')).toMatchObject({
    name: 'InterludeError',
    code: 'unauthenticated',
  });
});

test('a page whose origin is not named gets nothing, and starts nothing', async () => {
  const alice = await service.as('alice');
  const conversations = async () => (await alice.request('GET', '/run/v1/conversations')).body['items'];
  const before = await conversations();
  const page = await openPage(stranger);
  const isRefused = page.waitForEvent('console', (message) => message.text().includes('CORS policy'));
  const talking = talk(page, service.baseUrl, await service.token('alice'), 'hello');
  // It would try for ever: a browser does not tell it why.
  const ending = talking.catch((error: unknown) => String(error));
  await isRefused;
  await page.close();
  expect(await ending).toContain('closed');
  expect(await conversations()).toEqual(before);
});

test('an older client, program and widget are refused, and say what to update', async () => {
  const words = `This client has version 0.1.9; this service, ${packageJson.version}, works with clients of version ${oldest.client} and newer. Reload the page, or update @interlude-ai/client or the program interlude.`;
  const token = await service.token('alice');
  const older = (code: string) => code.replaceAll(packageJson.version, '0.1.9');
  for (const name of ['client', 'program'] as const) {
    const file = path.join(project.packages[name].home, 'core/contract/version.js');
    writeFileSync(file, older(readFileSync(file, 'utf8')));
  }
  const outputOf = (command: string, ...args: string[]) => {
    const running = run(command, args, { cwd: project.folder, env: withTools() });
    running.child.stdin?.end('hello\n');
    return running
      .catch((error: { stdout: string; stderr: string }) => error)
      .then(({ stdout, stderr }) => (stdout + stderr).replaceAll(/\s+/g, ' '));
  };
  expect(await outputOf(process.execPath, 'node.mjs', service.baseUrl, token)).toContain(words);
  const chat = ['--no', '--', 'interlude', 'chat', '--url', service.baseUrl, '--token', token];
  expect(await outputOf('npx', ...chat)).toContain(words);

  const widget = await fetch(`${service.baseUrl}/widget.js`).then((response) => response.text());
  const page = await browser.newPage();
  stack.defer(() => page.close());
  await page.goto(origin);
  await page.addScriptTag({ content: older(widget), type: 'module' });
  await page.evaluate(
    ([api, bearer]) => {
      const chat = document.createElement('interlude-chat');
      chat.setAttribute('api', api);
      Object.assign(chat, { token: bearer });
      document.body.append(chat);
    },
    [service.baseUrl, token] as const,
  );
  await page.getByRole('textbox').fill('hello');
  await page.keyboard.press('Enter');
  await page.getByText(words).first().waitFor();
});
