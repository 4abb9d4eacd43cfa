import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startTracker } from '../../demo/tracker/tracker.ts';
import type { Tracker } from '../../demo/tracker/tracker.ts';
import type { Credential } from '../../src/credentials/credential-store.ts';
import { openRemoteServers } from '../../src/remote/open-remote-servers.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import type { Browser, Page } from '../browsers/plain-browser.ts';
import { serverConfig } from '../servers/mcp-server.ts';

/** Gets a token from Tracker as any OAuth client would: registered on the fly, PKCE, the person's yes in a browser. */
interface Server {
  origin: string;
  url: string;
}

interface TrackerTokens {
  access_token: string;
  refresh_token?: string;
  token_type: string;
  scope: string;
  expires_in: number;
}

interface TrackerClient {
  clientId: string;
  /** Opens the sign-in page. */
  authorize: (scope?: string, changes?: Record<string, string>) => Promise<Page>;
  /** From the address the browser was sent back to. */
  exchange: (page: Page) => Promise<TrackerTokens>;
  token: (parameters: Record<string, string>) => Promise<Response>;
  browser: Browser;
}

const redirectUri = 'http://127.0.0.1:9/callback';
const bothScopes = 'issues:read issues:write';

async function registerClient({ origin, url }: Server, name = 'Test client'): Promise<TrackerClient> {
  const metadata = (await (await fetch(`${origin}/.well-known/oauth-authorization-server`)).json()) as Record<
    string,
    string
  >;
  const registered = await fetch(metadata['registration_endpoint'] ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: name,
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: bothScopes,
    }),
  });
  if (!registered.ok)
    throw new Error(`registration answered ${registered.status}: ${await registered.text()}`);
  const { client_id: clientId } = (await registered.json()) as { client_id: string };
  const browser = openBrowser({ stopAt: (address) => address.href.startsWith(redirectUri) });
  const verifier = randomBytes(32).toString('base64url');

  const token = (parameters: Record<string, string>) =>
    fetch(metadata['token_endpoint'] ?? '', {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, resource: url, ...parameters }),
    });

  return {
    clientId,
    browser,
    token,
    authorize(scope = bothScopes, changes = {}) {
      const address = new URL(metadata['authorization_endpoint'] ?? '');
      address.search = new URLSearchParams({
        client_id: clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope,
        state: 'the-state',
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        resource: url,
        ...changes,
      }).toString();
      return browser.get(address);
    },
    async exchange(page) {
      const code = page.url.searchParams.get('code');
      if (code === null) throw new Error(`No code in the answer: ${page.url.search}`);
      const response = await token({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      });
      if (!response.ok)
        throw new Error(`token endpoint answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as TrackerTokens;
    },
  };
}

/** All of it in one go: a credential for this account. */
async function connectAccount(
  server: Server,
  account: 'alice' | 'bob',
  scope = bothScopes,
): Promise<Credential> {
  const client = await registerClient(server);
  const consent = await client.browser.press(await client.authorize(scope), `Continue as ${account}`);
  const tokens = await client.exchange(await client.browser.press(consent, 'Allow'));
  return { kind: 'credential', headers: { authorization: `Bearer ${tokens.access_token}` }, version: 1 };
}

const remote = openRemoteServers();

let dataDir: string;
let tracker: Tracker;
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'tracker-'));
  tracker = await startTracker({ port: 0, dataDir });
});
afterEach(async () => {
  await tracker.stop();
  await rm(dataDir, { recursive: true });
});

const signal = new AbortController().signal;

function call(
  credential: Credential,
  name: string,
  input: Record<string, unknown> = {},
  callId = 'turn/call',
) {
  const config = serverConfig(tracker.url, { title: 'Tracker', timeout: 5_000 });
  return remote.callTool(config, credential, { name, arguments: input, callId, signal });
}

describe('an account', () => {
  test('is asked who it is and whether it agrees, and sees who wants what', async () => {
    const { authorize, browser, exchange } = await registerClient(tracker, 'Interlude <b>');
    const signIn = await authorize();
    expect(signIn.buttons).toEqual([
      expect.stringContaining('Continue as alice'),
      expect.stringContaining('Continue as bob'),
    ]);
    const consent = await browser.press(signIn, 'Continue as alice');
    expect(consent.text).toContain('signed in as alice');
    expect(consent.text).toContain('Create, comment on and close issues');
    expect(consent.text).toContain('127.0.0.1:9');
    expect(consent.html).not.toContain('<b>');
    const back = await browser.press(consent, 'Allow');
    expect(back.url.searchParams.get('state')).toBe('the-state');
    expect(back.url.searchParams.get('iss')).toBe(tracker.origin);
    expect(await exchange(back)).toMatchObject({
      token_type: 'Bearer',
      scope: 'issues:read issues:write',
      refresh_token: expect.any(String),
    });
  });

  test('that says no sends the client back with access_denied and may be asked again', async () => {
    const { authorize, browser } = await registerClient(tracker);
    const consent = await browser.press(await authorize(), 'Continue as alice');
    const back = await browser.press(consent, 'Deny');
    expect(back.url.searchParams.get('error')).toBe('access_denied');
    expect((await authorize()).buttons).toContain('Allow');
  });

  test('can be another one than the browser remembers', async () => {
    const { authorize, browser, exchange } = await registerClient(tracker);
    const asAlice = await browser.press(await authorize(), 'Continue as alice');
    const asBob = await browser.press(asAlice, 'Continue as bob');
    expect(asBob.text).toContain('signed in as bob');
    const tokens = await exchange(await browser.press(asBob, 'Allow'));
    await call(
      { kind: 'credential', headers: { authorization: `Bearer ${tokens.access_token}` }, version: 1 },
      'list_issues',
    );
    expect(tracker.calls).toMatchObject([{ account: 'bob' }]);
  });
});

describe('the authorization server', () => {
  test('publishes what clients look for', async () => {
    const resource = await (await fetch(`${tracker.origin}/.well-known/oauth-protected-resource/mcp`)).json();
    expect(resource).toMatchObject({
      resource: tracker.url,
      scopes_supported: ['issues:read', 'issues:write'],
    });
    const metadata = await (await fetch(`${tracker.origin}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({
      issuer: tracker.origin,
      code_challenge_methods_supported: ['S256'],
      registration_endpoint: expect.stringContaining(tracker.origin),
      revocation_endpoint: expect.stringContaining(tracker.origin),
      authorization_response_iss_parameter_supported: true,
    });
  });

  test('refuses a client that does without PKCE', async () => {
    const { authorize } = await registerClient(tracker);
    const page = await authorize(undefined, { code_challenge: '', code_challenge_method: '' });
    expect(page.url.searchParams.get('error')).toBe('invalid_request');
  });

  test('gives tokens for its own endpoint only', async () => {
    const { authorize } = await registerClient(tracker);
    const page = await authorize(undefined, { resource: 'https://elsewhere.example/mcp' });
    expect(page.url.searchParams.get('error')).toBe('invalid_target');
  });

  test('replaces the refresh token at each use, and ends the grant when an old one comes back', async () => {
    const { authorize, browser, exchange, token } = await registerClient(tracker);
    const consent = await browser.press(await authorize(), 'Continue as alice');
    const first = await exchange(await browser.press(consent, 'Allow'));
    const refresh = (value = '') => token({ grant_type: 'refresh_token', refresh_token: value });
    const second = (await (await refresh(first.refresh_token)).json()) as {
      refresh_token: string;
      access_token: string;
    };
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await refresh(first.refresh_token)).status).toBe(400);
    expect((await refresh(second.refresh_token)).status).toBe(400);
    const replayed: Credential = {
      kind: 'credential',
      headers: { authorization: `Bearer ${second.access_token}` },
      version: 1,
    };
    expect(await call(replayed, 'list_issues')).toMatchObject({ kind: 'refused', status: 401 });
  });
});

describe('the MCP endpoint', () => {
  test('sends whoever has no token to the metadata', async () => {
    const outcome = await call({ kind: 'credential', headers: {}, version: 0 }, 'list_issues');
    const metadata = `resource_metadata="${tracker.origin}/.well-known/oauth-protected-resource/mcp"`;
    expect(outcome).toMatchObject({
      kind: 'refused',
      status: 401,
      challenge: expect.stringContaining(metadata),
    });
    expect(tracker.calls).toEqual([]);
  });

  test('lists its tools with what they do to the world', async () => {
    const listed = await remote.listTools(
      serverConfig(tracker.url),
      await connectAccount(tracker, 'alice'),
      signal,
    );
    const hints =
      listed.kind === 'tools'
        ? listed.tools.map(({ name, annotations }) => [
            name,
            annotations?.readOnlyHint,
            annotations?.idempotentHint,
          ])
        : [];
    expect(hints).toEqual([
      ['list_issues', true, undefined],
      ['get_issue', true, undefined],
      ['create_issue', false, false],
      ['comment_on_issue', false, false],
      ['close_issue', false, true],
    ]);
  });

  test('does what its tools say, in the account’s name', async () => {
    const alice = await connectAccount(tracker, 'alice');
    const created = await call(alice, 'create_issue', { title: 'Buy milk' });
    expect(created).toMatchObject({
      result: {
        structuredContent: { issue: { id: 7, title: 'Buy milk', assignee: 'alice', state: 'open' } },
      },
    });
    await call(alice, 'comment_on_issue', { id: 7, text: 'Oat.' });
    await call(alice, 'close_issue', { id: 7 });
    expect(await call(alice, 'get_issue', { id: 7 })).toMatchObject({
      result: {
        structuredContent: { issue: { state: 'closed', comments: [{ author: 'alice', text: 'Oat.' }] } },
      },
    });
    const open = await call(alice, 'list_issues');
    expect(open).toMatchObject({
      result: { structuredContent: { issues: [{ id: 1 }, { id: 2 }, { id: 4 }] } },
    });
    const all = await call(alice, 'list_issues', { state: 'all', assignee: 'anyone' });
    expect(all).toHaveProperty('result.structuredContent.issues.length', 7);
  });

  test('says so when there is no such issue', async () => {
    const outcome = await call(await connectAccount(tracker, 'bob'), 'close_issue', { id: 99 });
    expect(outcome).toMatchObject({
      result: { isError: true, content: [{ text: 'There is no issue #99 in Tracker.' }] },
    });
  });

  test('asks for the scope that writing needs', async () => {
    const reader = await connectAccount(tracker, 'alice', 'issues:read');
    expect((await call(reader, 'list_issues')).kind).toBe('result');
    const outcome = await call(reader, 'create_issue', { title: 'x' });
    expect(outcome).toMatchObject({
      kind: 'refused',
      status: 403,
      challenge: expect.stringMatching(/error="insufficient_scope".*scope="issues:read issues:write"/),
    });
    expect(tracker.calls).toMatchObject([{ tool: 'list_issues' }]);
  });

  test('refuses tokens at once after their account was disconnected', async () => {
    const [alice, bob] = await Promise.all([
      connectAccount(tracker, 'alice'),
      connectAccount(tracker, 'bob'),
    ]);
    tracker.revoke('alice');
    expect(await call(alice, 'list_issues')).toMatchObject({ kind: 'refused', status: 401 });
    expect((await call(bob, 'list_issues')).kind).toBe('result');
  });

  test('refuses tokens that have run out', async () => {
    tracker.accessTokenSeconds = 1;
    const alice = await connectAccount(tracker, 'alice');
    await expect.poll(async () => (await call(alice, 'list_issues')).kind).toBe('refused');
  });

  test('keeps accounts connected and issues as they were over a restart', async () => {
    const alice = await connectAccount(tracker, 'alice');
    await call(alice, 'create_issue', { title: 'Still here' });
    await tracker.stop();
    const port = Number(new URL(tracker.origin).port);
    tracker = await startTracker({ port, dataDir });
    expect(await call(alice, 'get_issue', { id: 7 })).toMatchObject({
      result: { structuredContent: { issue: { title: 'Still here' } } },
    });
    expect(tracker.calls).toMatchObject([{ tool: 'create_issue' }, { tool: 'get_issue' }]);
  });
});

describe('when things go wrong, outcome and execution agree:', () => {
  test('a connection cut after the work is an unknown outcome of a call that ran', async () => {
    const alice = await connectAccount(tracker, 'alice');
    tracker.faults.dropNext();
    expect((await call(alice, 'create_issue', { title: 'x' }, 'turn/cut')).kind).toBe('unknown');
    expect(tracker.calls).toMatchObject([{ callId: 'turn/cut', tool: 'create_issue', account: 'alice' }]);
  });

  test('a connection cut before the work is an unknown outcome of a call that did not', async () => {
    const alice = await connectAccount(tracker, 'alice');
    tracker.faults.dropNext('before');
    expect((await call(alice, 'create_issue', { title: 'x' })).kind).toBe('unknown');
    expect(tracker.calls).toEqual([]);
  });

  test('a call that is held can be released', async () => {
    const alice = await connectAccount(tracker, 'alice');
    const held = tracker.faults.hold('before');
    const outcome = call(alice, 'close_issue', { id: 1 });
    await held.arrived;
    expect(tracker.issues.get(1).state).toBe('open');
    held.release();
    expect((await outcome).kind).toBe('result');
    expect(tracker.issues.get(1).state).toBe('closed');
  });

  test('a server that is out of order is unreachable before a call is sent', async () => {
    const alice = await connectAccount(tracker, 'alice');
    tracker.faults.refuseWith = 503;
    expect((await call(alice, 'list_issues')).kind).toBe('unreachable');
    expect(tracker.calls).toEqual([]);
  });
});
