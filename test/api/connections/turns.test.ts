/** What turns make of accounts that come and go beside them: the whole service, with Tracker and its own sign-in. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { createClient } from '@interlude-ai/client/client.ts';
import { openAccount } from '../../../src/credentials/mcp-oauth/account.ts';
import { generateKey, parseKeys } from '../../../src/credentials/sealing/key-ring.ts';
import { serverConfig } from '../../credentials/guarded-server.ts';
import { openBrowser } from '../../browsers/plain-browser.ts';
import type { Browser, Page } from '../../browsers/plain-browser.ts';
import { respond } from '../../service/asking.ts';
import type { ChatStream } from '../../service/chat-stream.ts';
import { connectAccount } from '../../service/connect-account.ts';
import { useService } from '../../service/use-service.ts';
import type { Caller } from '../../service/user.ts';

const alices = { tenant: 'demo', server: 'tracker', user: 'alice' };
const keys = generateKey('k1');

const { service, alice } = useService({ per: 'test', env: { INTERLUDE_KEYS: keys } });

const ask = (caller = alice, conversation = randomUUID()) =>
  caller.chat('list my open issues', { conversation });
const disconnect = () => alice.request('DELETE', '/run/v1/connections/tracker');
/** Ends a turn that waits. */
async function leave(caller: Caller, conversation: string, stream: ChatStream): Promise<void> {
  await caller.cancel(conversation);
  await stream.finished();
}
const isAnswered = (stream: ChatStream) => stream.text().includes('Here they are');

async function connectByQuestion(): Promise<void> {
  const stream = await ask();
  await connectAccount('alice', (await stream.question('pending')).url);
  await stream.finished();
}

/** What a call would send right now. */
async function storedToken(): Promise<string> {
  const row = await service.storage.connections.get(alices);
  if (!row) throw new Error('nothing is connected');
  return openAccount(parseKeys(keys), row, serverConfig(service.tracker.url)).accessToken;
}

async function trackerLetsIn(token: string): Promise<boolean> {
  const response = await fetch(service.tracker.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  await response.body?.cancel();
  return response.status !== 401;
}

async function settings(user: 'Alice' | 'Bob', browser: Browser): Promise<Page> {
  return browser.press(await browser.get(`${service.baseUrl}/connections`), `Continue as ${user}`);
}

async function connectFromSettings(user: 'Alice' | 'Bob'): Promise<Page> {
  const browser = openBrowser();
  const atTracker = await browser.press(await settings(user, browser), 'onnect');
  const consent = await browser.press(atTracker, `Continue as ${user.toLowerCase()}`);
  return browser.press(consent, 'Allow');
}

test('a disconnected account is refused by Tracker, and the next call asks as for the first time', async () => {
  await connectByQuestion();
  const token = await storedToken();
  expect(await trackerLetsIn(token)).toBe(true);
  const { body: list } = await alice.request('GET', '/run/v1/connections');
  expect(list).toMatchObject({
    items: [
      {
        server: 'tracker',
        status: 'active',
        account: 'alice',
        scopes: ['issues:read', 'issues:write'],
      },
    ],
  });

  expect(await disconnect()).toEqual({ status: 200, body: { server: 'tracker', revokedAtProvider: true } });
  expect(await trackerLetsIn(token)).toBe(false);
  expect(await disconnect()).toEqual({ status: 200, body: { server: 'tracker', revokedAtProvider: null } });
  expect((await alice.request('GET', '/run/v1/connections')).body).toMatchObject({
    items: [{ server: 'tracker', status: 'missing' }],
  });

  const requests = service.tracker.requests;
  const stream = await ask();
  const question = await stream.question('pending');
  expect(question.context).toMatchObject({ server: 'tracker', reason: 'missing' });
  // Nothing was sent with a token that is no more.
  expect(service.tracker.requests).toBe(requests);
  await connectAccount('alice', question.url);
  await stream.finished();
  expect(isAnswered(stream)).toBe(true);
  expect(await service.storage.connections.get(alices)).toMatchObject({ version: 2, status: 'active' });
});

test('a call that is under way ends as it ends, and the next one asks', async () => {
  await connectByQuestion();
  const calls = service.tracker.calls.length;
  const held = service.tracker.faults.hold('before');
  const stream = await ask();
  await held.arrived;
  expect((await disconnect()).body).toMatchObject({ revokedAtProvider: true });
  held.release();
  await stream.finished();
  expect(isAnswered(stream)).toBe(true);
  expect(service.tracker.calls).toHaveLength(calls + 1);
  const conversation = randomUUID();
  const next = await ask(alice, conversation);
  expect((await next.question('pending')).context).toMatchObject({ reason: 'missing' });
  await leave(alice, conversation, next);
});

test('a question that is open stays open when its account is removed, and connecting settles it once', async () => {
  await connectByQuestion();
  service.tracker.revoke('alice');
  const stream = await ask();
  const question = await stream.question('pending');
  expect(question.context['reason']).not.toBe('missing');
  expect((await disconnect()).status).toBe(200);
  expect(await service.storage.elicitations.get(question.elicitationId)).toMatchObject({ status: 'pending' });

  const calls = service.tracker.calls.length;
  await connectFromSettings('Alice');
  await stream.finished();
  expect(isAnswered(stream)).toBe(true);
  expect(service.tracker.calls).toHaveLength(calls + 1);
});

test('connecting from the settings page settles every question of this user for this server, and no other', async () => {
  const bob = await service.as('bob');
  const conversation = randomUUID();
  const [first, second, bobs] = await Promise.all([ask(), ask(), ask(bob, conversation)]);
  await Promise.all([first, second, bobs].map((stream) => stream.question('pending')));
  const done = await connectFromSettings('Alice');
  expect(done.url.href).toBe(`${service.baseUrl}/connections?connected=tracker`);
  expect(done.text).toContain('Tracker is connected as alice. Conversations that waited for it go on.');
  await Promise.all([first.finished(), second.finished()]);
  expect([first, second].map(isAnswered)).toEqual([true, true]);
  const bobsQuestion = await bobs.question('pending');
  expect(await service.storage.elicitations.get(bobsQuestion.elicitationId)).toMatchObject({
    status: 'pending',
  });
  expect(await service.storage.connections.get({ ...alices, user: 'bob' })).toBeNull();
  await leave(bob, conversation, bobs);
});

test('what the settings page ends is ended at Tracker', async () => {
  await connectByQuestion();
  const token = await storedToken();
  const browser = openBrowser();
  const confirm = await browser.click(await settings('Alice', browser), 'Disconnect');
  const done = await browser.press(confirm, 'Disconnect Tracker');
  expect(done.text).toContain('ended at Tracker');
  expect(await trackerLetsIn(token)).toBe(false);
  expect(await service.storage.audit.ofElicitation('')).toMatchObject([
    { actor: 'alice', action: 'disconnected', detail: 'tracker: revoked at its provider' },
  ]);
});

test('the client lists and ends connections', async () => {
  const client = createClient({ baseUrl: service.baseUrl, token: () => service.token('alice') });
  expect(await client.connections()).toMatchObject([{ server: 'tracker', status: 'missing' }]);
  await connectByQuestion();
  expect(await client.connections()).toMatchObject([{ server: 'tracker', status: 'active' }]);
  expect(await client.disconnect('tracker')).toEqual({ server: 'tracker', revokedAtProvider: true });
  await expect(client.disconnect('unknown')).rejects.toMatchObject({ status: 404, code: 'unknown_server' });
});

test('a question for an account at a server that is taken out of the agents file is closed on its page, and a refusal ends the call', async () => {
  const conversation = randomUUID();
  const stream = await ask(alice, conversation);
  const question = await stream.question('pending');
  service.parts.config.servers.delete('tracker');
  const browser = openBrowser();
  const page = await browser.press(await browser.get(question.url), 'Continue as Alice');
  expect(page.text).toContain('This question is closed');
  const refused = await respond(alice, conversation, question, { action: 'decline' });
  expect(refused).toMatchObject({ status: 200 });
  const chunks = await stream.finished();
  expect(JSON.stringify(chunks)).toContain('any more. The tool did not run.');
});
