/** Gets a token from Tracker as any OAuth client would: registered on the fly, PKCE, the person's yes in a browser. */
import { createHash, randomBytes } from 'node:crypto';
import type { Credential } from '../../src/credentials/credential-store.ts';
import { openBrowser } from '../browsers/plain-browser.ts';
import type { Browser, Page } from '../browsers/plain-browser.ts';

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

export interface TrackerClient {
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

export async function registerClient({ origin, url }: Server, name = 'Test client'): Promise<TrackerClient> {
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
export async function connectAccount(
  server: Server,
  account: 'alice' | 'bob',
  scope = bothScopes,
): Promise<Credential> {
  const client = await registerClient(server);
  const consent = await client.browser.press(await client.authorize(scope), `Continue as ${account}`);
  const tokens = await client.exchange(await client.browser.press(consent, 'Allow'));
  return { kind: 'credential', headers: { authorization: `Bearer ${tokens.access_token}` }, version: 1 };
}
