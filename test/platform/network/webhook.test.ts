/** Posts to addresses that callers name: where they may lead, and what becomes of targets that do not behave. */
import { once } from 'node:events';
import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createGuardedAgent } from '../../../src/platform/network/guarded-agent.ts';
import { createWebhooks, webhookProblem } from '../../../src/platform/network/webhook.ts';

type Lookup = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

const stack: (() => void)[] = [];
afterEach(() => {
  for (const end of stack.splice(0)) end();
});

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  stack.push(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?secret`;
}

test.each([
  ['http://example.com/', 'begin with https://'],
  ['ftp://example.com/', 'begin with https://'],
  ['https://user@example.com/', 'leave the password out; send it as authentication'],
  ['https://localhost/', 'name a host on the internet'],
  ['https://tracker.internal/', 'name a host on the internet'],
  ['https://tracker/', 'name a host on the internet'],
  ['https://127.1/', 'name a host on the internet'],
  ['https://2130706433/', 'name a host on the internet'],
  ['https://[::ffff:10.0.0.1]/', 'name a host on the internet'],
  ['https://169.254.169.254/', 'name a host on the internet'],
  ['https://example.com/hook', null],
])('to the internet: %s', (url, problem) => expect(webhookProblem(url, 'public')).toBe(problem));

test.each([
  ['http://localhost:3000/', null],
  ['http://10.0.0.1/', null],
  ['http://169.254.169.254/', 'name a host on the internet'],
  ['file:///etc/passwd', 'begin with https://'],
])('for development: %s', (url, problem) => expect(webhookProblem(url, 'local')).toBe(problem));

test('a name that means this machine is not connected to', async () => {
  const resolve = (...[, , callback]: Parameters<Lookup>) =>
    callback(null, [{ address: '127.0.0.1', family: 4 }]);
  const webhooks = createWebhooks('public', { agentOf: (reach) => createGuardedAgent(reach, { resolve }) });
  const reason = 'its host has an address that is not allowed';
  expect(await webhooks.post('https://hooks.example.com/', {}, '{}')).toMatchObject({ reason });
});

test('a redirect is told, and not followed', async () => {
  const asked: string[] = [];
  const other = await listen((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  const url = await listen((_, response) => response.writeHead(307, { location: other }).end());
  const webhooks = createWebhooks('local');
  const reason = 'it answered HTTP 307; redirects are not followed';
  expect(await webhooks.post(url, {}, '{}')).toEqual({
    kind: 'failed',
    reason,
    retryAfterMs: null,
    isSlow: false,
  });
  expect(asked).toEqual([]);
});

test('one that answers too slowly, or never ends to, is left', async () => {
  const silent = await listen(() => undefined);
  const webhooks = createWebhooks('local', { timeoutMs: 1_000 });
  const reason = 'it did not answer within 1 s';
  expect(await webhooks.post(silent, {}, '{}')).toEqual({
    kind: 'failed',
    reason,
    retryAfterMs: null,
    isSlow: true,
  });
  const endless = await listen((_, response) => {
    response.writeHead(200);
    const more = setInterval(() => response.write('x'.repeat(1_000)), 1);
    response.on('close', () => clearInterval(more));
  });
  expect(await webhooks.post(endless, {}, '{}')).toEqual({ kind: 'taken' });
});

test('what it asks for is heard: to wait, or to stop', async () => {
  const webhooks = createWebhooks('local');
  const later = await listen((_, response) => response.writeHead(429, { 'retry-after': '7' }).end());
  expect(await webhooks.post(later, {}, '{}')).toMatchObject({ kind: 'failed', retryAfterMs: 7_000 });
  const gone = await listen((_, response) => response.writeHead(410).end());
  expect(await webhooks.post(gone, {}, '{}')).toEqual({ kind: 'gone' });
});

test('nothing is said of where it is but its trouble', async () => {
  const webhooks = createWebhooks('local');
  const url = await listen(() => undefined);
  for (const end of stack.splice(0)) end();
  const posted = await webhooks.post(url, {}, '{}');
  expect(posted).toMatchObject({ kind: 'failed', reason: 'it cannot be reached (ECONNREFUSED)' });
});
