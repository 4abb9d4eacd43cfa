/** Servers and the gateways in front of them that answer an expired token with something else than 401. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openAccount, sealAccount } from '../../src/credentials/mcp-oauth/account.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import { serverConfig } from '../servers/mcp-server.ts';
import { startStrictFiles } from '../servers/strict-files.ts';
import type { StrictFiles } from '../servers/strict-files.ts';
import { questionsIn } from '../service/asking.ts';
import { signIn } from '../service/connect-account.ts';
import { useService } from '../service/use-service.ts';

const agentsFile = fileURLToPath(new URL('../fixtures/strict-agents.yaml', import.meta.url));
const alices = { tenant: 'demo', server: 'files', user: 'alice' };
const keys = generateKey('k1');
let files: StrictFiles;

const { service, alice } = useService({
  per: 'test',
  async needs(stack) {
    files = await startStrictFiles();
    stack.defer(() => files.stop());
    return { env: { INTERLUDE_CONFIG: agentsFile, FILES_URL: files.url, INTERLUDE_KEYS: keys } };
  },
});

async function connect(url: string): Promise<void> {
  const browser = openBrowser();
  await browser.press(await signIn(browser, 'alice', url), 'Connect');
}

/** Connected a moment ago, with all permissions that there are: the second question is about the other one. */
async function connected(): Promise<void> {
  const stream = await alice.chat('call files__save {}');
  await connect((await stream.question('pending')).url);
  await stream.until(
    () =>
      questionsIn(stream).filter(({ status }) => status === 'pending').length === 1 &&
      questionsIn(stream).length === 2,
  );
  await connect(questionsIn(stream)[1]?.url ?? '');
  await stream.finished();
  files.calls.length = 0;
  files.refusals.length = 0;
}

/** Connected long ago, with a token of which nobody knows how long it lives. */
async function connectedLongAgo(): Promise<void> {
  await connected();
  await age();
}

/** As if a day had passed. */
async function age(): Promise<void> {
  const row = (await service.storage.connections.get(alices))!;
  const ring = parseKeys(keys);
  const account = {
    ...openAccount(ring, row, serverConfig(files.url)),
    expiresAt: null,
    obtainedAt: 0,
    connectedAt: 0,
  };
  const sealed = sealAccount(ring, alices, account);
  expect(await service.storage.connections.refresh(row, { ...row, sealed, freshUntil: null })).toBe(true);
}

/** The token has expired, and nothing here says so. */
async function expire(): Promise<void> {
  const row = (await service.storage.connections.get(alices))!;
  await files.authorization.drop(openAccount(parseKeys(keys), row, serverConfig(files.url)).accessToken);
}

const renewals = () =>
  files.authorization.tokenRequests.filter(({ grantType }) => grantType === 'refresh_token').length;

const page = { 'content-type': 'text/html; charset=utf-8' };
const login = { location: 'https://gateway.example/login' };

test.each([
  ['302', { status: 302, headers: login, body: '' }],
  ['307', { status: 307, headers: login, body: '' }],
  ['303', { status: 303, headers: login, body: '' }],
  ['400', { status: 400, headers: { 'content-type': 'text/plain' }, body: 'Bad Request' }],
  [
    '400 with JSON',
    { status: 400, headers: { 'content-type': 'application/json' }, body: '{"error":"invalid_token"}' },
  ],
  ['a page', { status: 200, headers: page, body: '<!DOCTYPE html><title>Sign in</title>' }],
  ['440 as a page', { status: 440, headers: page, body: '<!DOCTYPE html><title>Sign in</title>' }],
])(
  'an expired token that is answered with %s is renewed once, and where that is refused the user is asked once',
  async (_, answer) => {
    await connectedLongAgo();
    files.refuseWith = answer;
    await expire();
    const healed = await alice.chat('call files__save {}');
    await healed.finished();
    expect(questionsIn(healed)).toEqual([]);
    expect(renewals()).toBe(1);
    expect(files.calls.map(({ tool }) => tool)).toEqual(['save']);
    expect(healed.text()).toBe('Done as alice.');

    await age();
    await files.authorization.withdraw('alice');
    const asked = await alice.chat('call files__save {}');
    const question = await asked.question('pending');
    expect(question.context).toMatchObject({ reason: 'revoked' });
    expect((await alice.request('GET', '/run/v1/connections')).body).toMatchObject({
      items: [{ status: 'broken', reason: 'revoked' }],
    });
    await connect(question.url);
    await asked.finished();
    expect(questionsIn(asked)).toMatchObject([{ status: 'accept' }]);
    expect(files.calls).toHaveLength(2);
  },
);

test('a server that answers like that to a token that was just renewed is asked about, and the account stays active', async () => {
  await connectedLongAgo();
  files.refuseWith = { status: 302, headers: login, body: '', all: true };
  const stream = await alice.chat('call files__save {}');
  const question = await stream.question('pending');
  expect(question.context).toMatchObject({ reason: 'rejected' });
  expect(renewals()).toBe(1);
  expect(await service.storage.connections.get(alices)).toMatchObject({ status: 'active' });
  files.refuseWith = null;
  await connect(question.url);
  await stream.finished();
  expect(files.calls.map(({ tool }) => tool)).toEqual(['save']);
});

test('who has just connected is not asked again by a server that redirects everything: its url is wrong', async () => {
  await connected();
  files.refuseWith = { status: 302, headers: login, body: '', all: true };
  const stream = await alice.chat('call files__save {}');
  await stream.finished();
  expect(questionsIn(stream)).toEqual([]);
  expect(renewals()).toBe(0);
  expect(stream.text()).toContain('redirect');
  expect(files.calls).toEqual([]);
});
