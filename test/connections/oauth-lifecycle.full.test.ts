/**
 * The life of an account through the whole service: what goes wrong with it becomes one question with the reason in
 * words, and the tool runs once, with the token that is right by then. Provider and server are strict.
 */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { openAccount, sealAccount } from '../../src/credentials/mcp-oauth/account.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import type { Page } from '../browsers/plain-browser.ts';
import { serverConfig } from '../servers/mcp-server.ts';
import { startStrictFiles } from '../servers/strict-files.ts';
import type { StrictFiles } from '../servers/strict-files.ts';
import { questionsIn } from '../service/asking.ts';
import { signIn } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';
import { idOf } from '../workflows/waiting.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/strict-agents.yaml', import.meta.url));
const alices = { tenant: 'demo', server: 'files', user: 'alice' };

const keys = generateKey('k1');

let files: StrictFiles;
/** A call that is about to look for its credential waits for it. */
let gate: Promise<void> | null = null;
let reached = Promise.withResolvers<void>();

const { temporal, service, alice } = useService({
  per: 'test',
  around: guarded,
  async needs(stack) {
    files = await startStrictFiles();
    stack.defer(() => files.stop());
    return { env: { INTERLUDE_CONFIG: agentsFile, FILES_URL: files.url, INTERLUDE_KEYS: keys } };
  },
});
afterEach(() => {
  gate = null;
});

function guarded(storage: Storage): Storage {
  const { toolCatalogue } = storage;
  return {
    ...storage,
    toolCatalogue: {
      ...toolCatalogue,
      async get(key) {
        if (gate) reached.resolve();
        await gate;
        return toolCatalogue.get(key);
      },
    },
  };
}

const call = (tool: 'look' | 'save', conversation = randomUUID()) =>
  alice.chat(`call files__${tool} {}`, { conversation });

/** Alice follows the link of a question to its end. */
async function connect(url: string): Promise<Page> {
  const browser = openBrowser();
  return browser.press(await signIn(browser, 'alice', url), 'Connect');
}

/** Connects an account by the first question there is, and forgets what came of it. */
async function connected(): Promise<void> {
  const stream = await call('look');
  await connect((await stream.question('pending')).url);
  await stream.finished();
  files.calls.length = 0;
}

/** As if the life of the access token were over. */
async function runOut(): Promise<void> {
  const row = (await service.storage.connections.get(alices))!;
  const ring = parseKeys(keys);
  const account = { ...openAccount(ring, row, serverConfig(files.url)), expiresAt: Date.now() - 1 };
  const sealed = sealAccount(ring, alices, account);
  expect(await service.storage.connections.refresh(row, { ...row, sealed, freshUntil: 0 })).toBe(true);
}

/** What the tool calls of this test were made with, and whether that is still worth anything. */
async function made(): Promise<unknown[]> {
  return Promise.all(
    files.calls.map(async ({ tool, account, token }) => {
      const worth = await files.authorization.introspect(token);
      return [tool, account, worth?.scopes ?? 'nothing'];
    }),
  );
}

const saved = (account: string) => ['save', account, ['files:read', 'files:write']];
const looked = (account: string) => ['look', account, ['files:read']];

test('a renewal that is refused asks once, saying that access was revoked, and the call goes on with the new account', async () => {
  await connected();
  await files.authorization.withdraw('alice');
  await runOut();
  const stream = await call('look');
  const question = await stream.question('pending');
  expect(question.message).toBe('Your connection to Files was revoked. Connect again to look.');
  expect(question.context).toMatchObject({ reason: 'revoked', scopes: ['files:read'] });
  const done = await connect(question.url);
  expect(done.text).toContain('Connected as alice@example.com');
  await stream.finished();
  expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }]);
  expect(await made()).toEqual([looked('alice')]);
  expect(stream.text()).toBe('Done as alice.');
});

test('a token that is refused although its life is not over asks once, in other words', async () => {
  await connected();
  await files.authorization.withdraw('alice');
  const stream = await call('look');
  const question = await stream.question('pending');
  expect(question.message).toBe('Files no longer accepts your connection. Connect again to look.');
  expect(question.context).toMatchObject({ reason: 'rejected' });
  await connect(question.url);
  await stream.finished();
  expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }]);
  expect(await made()).toEqual([looked('alice')]);
  expect(files.refusals.filter(({ status }) => status === 401)).toHaveLength(1);
});

test('a call that needs more asks for just that, keeps what there is, and the tool runs once with both', async () => {
  await connected();
  const stream = await call('save');
  const question = await stream.question('pending');
  expect(question.message).toBe('Files needs more permissions than you gave so far to save.');
  expect(question.context).toMatchObject({ reason: 'insufficient_scope', scopes: ['files:write'] });
  const browser = openBrowser();
  const page = await signIn(browser, 'alice', question.url);
  expect(page.text).toContain('files:write');
  const done = await browser.press(page, 'Connect');
  expect(done.text).toContain('Files is connected Connected as alice@example.com');
  await stream.finished();
  expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }]);
  expect(await made()).toEqual([saved('alice')]);

  const settings = await browser.get(`${service.baseUrl}/connections`);
  expect(settings.text).toMatch(/Connected as alice@example\.com .*Permissions files:read files:write/);
  expect((await alice.request('GET', '/run/v1/connections')).body).toMatchObject({
    items: [{ account: 'alice@example.com', scopes: ['files:read', 'files:write'] }],
  });
});

test('a server that still wants what it was given is told so to the model, after two questions and no call', async () => {
  await connected();
  // The provider leaves agreed scopes out of the token.
  files.authorization.provider.Grant.prototype.getResourceScopeFiltered = () => 'files:read';
  const stream = await call('save');
  await connect((await stream.question('pending')).url);
  await stream.until(
    () =>
      questionsIn(stream).filter(({ status }) => status === 'pending').length === 1 &&
      questionsIn(stream).length === 2,
  );
  await connect(questionsIn(stream)[1]?.url ?? '');
  await stream.finished();
  expect(questionsIn(stream)).toHaveLength(2);
  expect(files.calls).toEqual([]);
  expect(stream.text()).toContain('it refuses your account');
});

test('a provider that is away while a token is renewed is waited for, and nobody is asked', async () => {
  await connected();
  await runOut();
  await files.authorization.leave();
  const conversation = randomUUID();
  const stream = await call('look', conversation);
  const workflow = temporal.client.workflow.getHandle(idOf({ conversation, stream }));
  await vi.waitFor(async () => {
    const { raw } = await workflow.describe();
    expect(raw.pendingActivities?.[0]?.attempt ?? 0).toBeGreaterThan(1);
  });
  await files.authorization.comeBack();
  await stream.finished();
  expect(questionsIn(stream)).toEqual([]);
  expect(await made()).toEqual([looked('alice')]);
  expect(await service.storage.connections.get(alices)).toMatchObject({ version: 1, status: 'active' });
});

test('who sees that it is the wrong account connects another from the settings page, and the wrong one ends', async () => {
  files.authorization.person.account = 'mallory';
  const stream = await call('look');
  const done = await connect((await stream.question('pending')).url);
  expect(done.text).toContain('Connected as mallory@example.com');
  await stream.finished();
  const [wrong] = files.calls.splice(0);

  files.authorization.person.account = 'alice';
  const browser = openBrowser();
  const settings = await signIn(browser, 'alice', `${service.baseUrl}/connections`);
  expect(settings.text).toContain('Connected as mallory@example.com');
  const now = await browser.press(settings, 'Reconnect');
  expect(now.text).toContain('Files is connected as alice@example.com');
  await expect.poll(() => files.authorization.introspect(wrong?.token ?? '')).toBeNull();
  await (await call('look')).finished();
  expect(await made()).toEqual([looked('alice')]);
});

const openQuestions = () => service.storage.elicitations.openOf(alices);

test('connecting from the settings page lets three conversations on two surfaces go on', async () => {
  const openai = async () => {
    const conversationId = randomUUID();
    service.begun(conversationId);
    const response = await fetch(`${service.baseUrl}/run/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await service.token('alice')}`,
        'content-type': 'application/json',
        'x-supports-elicitation': 'true',
      },
      body: JSON.stringify({
        model: 'assistant',
        stream: true,
        conversationId,
        messages: [{ role: 'user', content: 'call files__look {}' }],
      }),
    });
    return response.text();
  };
  const third = openai();
  const [first, second] = await Promise.all([call('look'), call('look')]);
  await vi.waitFor(async () => expect(await openQuestions()).toHaveLength(3));
  const browser = openBrowser();
  const settings = await signIn(browser, 'alice', `${service.baseUrl}/connections`);
  const done = await browser.press(settings, 'Connect');
  expect(done.text).toContain(
    'Files is connected as alice@example.com. Conversations that waited for it go on.',
  );
  await Promise.all([first.finished(), second.finished()]);
  expect([first.text(), second.text()]).toEqual(['Done as alice.', 'Done as alice.']);
  const completion = await third;
  expect(completion).toContain('"status":"accept"');
  expect(textOf(completion)).toContain('Done as alice.');
  expect(await made()).toEqual([looked('alice'), looked('alice'), looked('alice')]);
  expect(await openQuestions()).toEqual([]);
});

test('an account that is disconnected between the answer and the call is asked for again, and the tool runs once', async () => {
  await connected();
  await files.authorization.withdraw('alice');
  const stream = await call('look');
  const first = await stream.question('pending');
  const opened = Promise.withResolvers<void>();
  gate = opened.promise;
  reached = Promise.withResolvers();
  await connect(first.url);
  await reached.promise;
  gate = null;
  expect((await alice.request('DELETE', '/run/v1/connections/files')).body).toEqual({
    server: 'files',
    revokedAtProvider: true,
  });
  opened.resolve();
  await stream.until(() => questionsIn(stream).length === 2);
  expect(files.calls).toEqual([]);
  const again = questionsIn(stream)[1];
  expect(again?.context).toMatchObject({ reason: 'missing' });
  await connect(again?.url ?? '');
  await stream.finished();
  expect(questionsIn(stream)).toMatchObject([{ status: 'accept' }, { status: 'accept' }]);
  expect(await made()).toEqual([looked('alice')]);
});

test('an account that is disconnected while its call is under way lets that call end, and the next one asks', async () => {
  await connected();
  const held = files.hold();
  const stream = await call('look');
  await held.arrived;
  expect((await alice.request('DELETE', '/run/v1/connections/files')).body).toMatchObject({
    revokedAtProvider: true,
  });
  held.release();
  await stream.finished();
  expect(stream.text()).toBe('Done as alice.');
  expect(await made()).toEqual([['look', 'alice', 'nothing']]);
  const next = await call('look');
  expect((await next.question('pending')).context).toMatchObject({ reason: 'missing' });
  await connect((await next.question('pending')).url);
  await next.finished();
  expect(files.calls).toHaveLength(2);
});

function textOf(completion: string): string {
  return [...completion.matchAll(/^data: (\{.*\})$/gm)]
    .map(([, json = '{}']) => JSON.parse(json) as { choices?: { delta?: { content?: string } }[] })
    .map(({ choices }) => choices?.[0]?.delta?.content ?? '')
    .join('');
}
