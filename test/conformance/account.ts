/**
 * The account for scenarios about signing in, from the store that turns use. The person who connects it follows the
 * store's link and agrees to everything.
 */
import path from 'node:path';
import type { ServerConfig } from '../../src/platform/config/config.ts';
import { createOAuthStore } from '../../src/credentials/mcp-oauth/oauth-store.ts';
import { IssuerNotAgreed } from '../../src/credentials/mcp-oauth/discovery.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import type {
  ConnectionRequired,
  Credential,
  Refusal,
  Unrelated,
} from '../../src/credentials/credential-store.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { followRedirects } from '../credentials/redirects.ts';

const sessionHash = 'the browser';
/** As the turn's own limit for one tool call. */
const maxConnects = 2;

export interface ConformanceAccount {
  credential(): Promise<Credential>;
  /** The server refused the credential. The next credential, or null when the person is not asked again. */
  after(refused: Credential, refusal: Pick<Refusal, 'status' | 'challenge'>): Promise<Credential | null>;
  close(): Promise<void>;
}

interface Options {
  server: ServerConfig;
  folder: string;
  /** Where people come back to. Nothing listens there: who goes there has come back. */
  publicUrl: string;
  secret: string | undefined;
}

export async function openAccount({
  server,
  folder,
  publicUrl,
  secret,
}: Options): Promise<ConformanceAccount> {
  const storage = await openStorage({ kind: 'sqlite', path: path.join(folder, 'account.db') });
  const keys = parseKeys(generateKey('k1'));
  const store = createOAuthStore({ storage, keys, publicUrl, secret: () => secret });
  const key = { tenant: 'acme', server: server.name, user: 'alice' };
  let connects = 0;
  let current = server.oauth?.clientId === undefined ? server : await pinned(server);

  /** With an operator who agrees when the server has moved to another sign-in server. */
  async function agreeing<T>(act: (as: ServerConfig) => Promise<T>): Promise<T> {
    try {
      return await act(current);
    } catch (error) {
      if (!(error instanceof IssuerNotAgreed)) throw error;
      current = await pinned(server);
      return act(current);
    }
  }

  async function settle(answer: Credential | ConnectionRequired | Unrelated): Promise<Credential | null> {
    if (answer.kind === 'credential') return answer;
    if (answer.kind === 'unrelated') return null;
    if (connects === maxConnects) return null;
    connects++;
    const { scopes } = answer;
    const { url } = await agreeing((as) =>
      store.begin({ server: as, key, elicitationId: null, sessionHash, scopes }),
    );
    const callback = await followRedirects(url, `${publicUrl}/auth/callback`);
    const done = await store.complete({ callback, sessionHash, serverByName: () => current });
    if (done.kind !== 'connected') throw new Error(`not connected: ${JSON.stringify(done)}`);
    return settle(await agreeing((as) => store.resolve(as, key)));
  }

  return {
    async credential() {
      const credential = await settle(await agreeing((as) => store.resolve(as, key)));
      if (credential === null) throw new Error('connected, and yet there is no credential');
      return credential;
    },
    after: async ({ version, tokenId }, { status, challenge }) =>
      settle(await agreeing((as) => store.reject(as, key, { version, tokenId, status, challenge }))),
    close: () => storage.close(),
  };
}

/** The configuration of an operator who pins the issuer that the server names now. */
async function pinned(server: ServerConfig): Promise<ServerConfig> {
  const { origin, pathname } = new URL(server.url);
  const answer = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: named } = (await answer.json()) as { authorization_servers: string[] };
  return { ...server, oauth: { ...server.oauth, issuer: named[0] } };
}
