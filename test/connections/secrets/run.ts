/** One long day of Alice's: she connects accounts of every kind, and nearly everything goes wrong on the way. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { asTurn } from '../../asking/asking-service.ts';
import type { AskedTurn } from '../../asking/asking-service.ts';
import { startCommand } from '../../cli/start-command.ts';
import type { Deployment } from '../../e2e/deployment.ts';
import { openBrowser } from '../../browsers/plain-browser.ts';
import type { Page } from '../../browsers/plain-browser.ts';
import type { NangoDouble } from '../../servers/nango/nango-double.ts';
import { asks, form } from '../../servers/scripted-mcp-server.ts';
import { signIn } from '../../service/connect-account.ts';
import type { Caller } from '../../service/user.ts';
import { done } from './quoting-servers.ts';
import type { SignInServer, ToolServer } from './quoting-servers.ts';
import type { Secrets } from './secrets.ts';

export interface Cast {
  deployment: Deployment;
  secrets: Secrets;
  signIn: SignInServer;
  locker: ToolServer;
  box: ToolServer;
  nango: NangoDouble;
  /** The key that Box takes. */
  goodKey: string;
  /** Takes down what Temporal shows of turns that are under way. */
  lookAtTemporal(): Promise<void>;
}

/** So short that a token has to be renewed before long, and long enough for one to be used. */
const shortLifeSeconds = 2;

/** The texts and addresses of the pages that a browser saw. */
function notePages({ secrets }: Cast, ...pages: Page[]): void {
  for (const page of pages) {
    const [, csrf] = /name="csrf"[^>]*value="([^"]+)"/.exec(page.html) ?? [];
    if (csrf !== undefined) secrets.note('csrf token', csrf);
    for (const { pathname, searchParams } of page.path) {
      const isLogin = pathname.includes('login') || searchParams.has('nonce');
      for (const name of ['state', 'code', 'nonce', 'connect_session_token']) {
        const value = searchParams.get(name);
        if (value !== null) secrets.note(isLogin ? `login ${name}` : (noted[name] ?? name), value);
      }
    }
  }
}
const noted: Record<string, string> = {
  code: 'authorization code',
  connect_session_token: 'nango session token',
};

function callTurn(alice: Caller, text: string): Promise<AskedTurn> {
  return asTurn(alice, randomUUID(), (conversation) => alice.chat(text, { conversation }));
}

/** Built-in OAuth: a refused code, a broken token endpoint, a form on the way; answers with the ids of its questions. */
export async function lockerWithForm(cast: Cast, alice: Caller): Promise<string[]> {
  const { secrets, signIn: provider, locker } = cast;
  locker.next = [
    asks({ field: form(secrets.mint('question')) }, secrets.mint('server state')),
    done(secrets.mint('tool output')),
  ];
  provider.lifeSeconds = shortLifeSeconds;
  const input = { words: secrets.mint('tool input') };
  const turn = await callTurn(alice, `call locker__ask ${JSON.stringify(input)}\n${secrets.mint('message')}`);
  const connect = await turn.question(0);

  const browser = openBrowser();
  await cast.lookAtTemporal();
  const asked = await signIn(browser, 'alice', connect.url);
  provider.codes = 'refused';
  const refused = await browser.press(asked, 'Connect');
  provider.codes = 'broken';
  const broken = await browser.press(refused, 'again');
  provider.codes = 'redeemed';
  const connected = await browser.press(broken, 'again');
  notePages(cast, asked, refused, broken, connected);

  const { elicitationId } = await turn.question(1);
  const answer = (content: unknown) =>
    alice.request('POST', '/run/api/elicitation-responses', {
      conversationId: turn.conversation,
      elicitationId,
      action: 'accept',
      content,
    });
  await answer({ city: { nested: secrets.mint('wrong answer') } });
  await answer({ country: secrets.mint('wrong answer'), city: secrets.mint('wrong answer') });
  await answer({ city: secrets.mint('form answer') });
  await turn.end();
  return [connect.elicitationId, elicitationId];
}

/** A refused refresh, a refused token, a server that breaks, a provider that cannot revoke. */
export async function lockerInTrouble(cast: Cast, alice: Caller): Promise<void> {
  const { signIn: provider, locker, secrets } = cast;
  const call = () =>
    callTurn(alice, `call locker__ask ${JSON.stringify({ words: secrets.mint('tool input') })}`);
  const reconnect = async (turn: AskedTurn) => {
    const browser = openBrowser();
    const page = await signIn(browser, 'alice', (await turn.question(0)).url);
    notePages(cast, page, await browser.press(page, 'Connect'));
    await turn.end();
  };
  provider.refreshes = 'refused';
  await sleep(shortLifeSeconds * 1000);
  provider.lifeSeconds = 3600;
  await reconnect(await call());
  locker.next = ['refuse'];
  await reconnect(await call());
  locker.next = ['break'];
  await (await call()).end();
  await alice.request('DELETE', '/run/v1/connections/locker');
}

/** Keys that are entered wrong, refused, or cannot be tried; then the right one. */
export async function boxWithKey(cast: Cast, alice: Caller): Promise<void> {
  const { secrets, box, goodKey } = cast;
  const turn = await callTurn(alice, 'call box__ask {}');
  const browser = openBrowser();
  const page = await signIn(browser, 'alice', (await turn.question(0)).url);
  const enter = (key: string) => browser.press(page, 'Connect Box', { key });
  const malformed = await enter(`Bearer ${secrets.mint('malformed api key')}`);
  const refused = await enter(secrets.mint('refused api key'));
  box.mood = 'broken';
  const untried = await enter(goodKey);
  box.mood = 'well';
  notePages(cast, page, malformed, refused, untried, await enter(goodKey));
  await turn.end();
}

/** Nango away, overloaded, and at work; webhooks that lie; a token that is refused and cannot be renewed. */
export async function acmeByNango(cast: Cast, alice: Caller): Promise<void> {
  const { secrets, nango, deployment } = cast;
  const turn = await callTurn(alice, 'call acme__list_issues {}');
  const browser = openBrowser();
  const page = await signIn(browser, 'alice', (await turn.question(0)).url);
  await nango.down();
  const away = await browser.press(page, 'Connect');
  await nango.up();
  nango.rateLimit(1);
  const busy = await browser.press(page, 'Connect');
  // By now the polls for the connection have been refused, too.
  await cast.lookAtTemporal();
  nango.rateLimit(null);
  const atProvider = await browser.press(page, 'Connect');
  const last = await browser.press(atProvider, 'Allow', { person: 'alice' });
  notePages(cast, page, away, busy, atProvider, last);
  await turn.end();
  noteNango(cast);

  const webhook = `${deployment.baseUrl}/webhooks/nango`;
  const hint = (connectionId: string) => ({
    type: 'auth',
    operation: 'creation',
    success: true,
    connectionId,
    providerConfigKey: 'tracker',
    tags: { interlude_attempt: 'nobodys', end_user_email: secrets.mint('webhook content') },
    error: { type: 'unknown', description: secrets.mint('webhook content') },
  });
  for (const how of ['wrong-key', 'legacy-only', 'unsigned'] as const)
    await nango.forge(webhook, hint(secrets.mint('webhook content')), how);
  // Nango's own word: which connection it is about may be logged.
  await nango.forge(webhook, hint('nobodys'), 'signed');
  await nango.forge(webhook, { ...hint('nobodys'), operation: 'refresh', success: false }, 'signed');
  await nango.replay();

  nango.provider.revoke('alice');
  nango.failRefresh('invalid_grant');
  const again = await callTurn(alice, 'call acme__list_issues {}');
  const { elicitationId } = await again.question(0);
  await alice.answer({ conversationId: again.conversation, elicitationId, action: 'decline' });
  await again.end();
  noteNango(cast);
}

function noteNango({ secrets, nango }: Cast): void {
  for (const { credentials } of nango.connections()) {
    secrets.note('nango access token', credentials.accessToken);
    if (credentials.refreshToken !== undefined) secrets.note('nango refresh token', credentials.refreshToken);
  }
}

/** Requests that make no sense, keys that are not ours, and a model that quotes its key. */
export async function badRequests({ deployment, secrets }: Cast, alice: Caller): Promise<void> {
  const content = () => secrets.mint('malformed request');
  await alice.request('POST', '/run/api/chat', { messages: content() });
  await alice.request('POST', '/run/api/chat', {
    [content()]: [],
    messages: [{ role: content(), parts: [] }],
  });
  const send = (body: string, authorization: string, url = '/run/api/chat') =>
    fetch(deployment.baseUrl + url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body,
    });
  await (await send(`{"broken": "${content()}`, `Bearer ${secrets.mint('foreign bearer')}`)).text();
  const apiKey = secrets.note('service api key', await makeApiKey(deployment));
  await (await send(`{"broken": "${content()}`, `Bearer ${apiKey}`)).text();
  await (
    await send('{}', `Bearer ${secrets.note('mistyped api key', `${apiKey.slice(0, -6)}Zz9Zz9`)}`)
  ).text();
  const text = secrets.mint('message');
  const writer = await alice.chat(text, { agentId: 'writer' });
  await writer.finished().catch(() => undefined);
}

async function makeApiKey({ environment }: Deployment): Promise<string> {
  const { output } = await startCommand(['api-keys', '--tenant', 'demo'], environment);
  return output.trim();
}
