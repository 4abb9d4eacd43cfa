/** An OAuth store on a real database, with a clock that tests can turn. */
import type { Config, ServerConfig } from '../../src/platform/config/config.ts';
import { createOAuthStore } from '../../src/credentials/mcp-oauth/oauth-store.ts';
import { generateKey, parseKeys } from '../../src/credentials/sealing/key-ring.ts';
import type { ConnectionKey } from '../../src/storage/schema/account-tables.ts';
import { createTurnedClock, openTestStorage } from '../storage/test-storage.ts';
import { followRedirects } from './redirects.ts';

export const publicUrl = 'http://127.0.0.1:3000';
export const alice: ConnectionKey = { tenant: 'acme', server: 'tracker', user: 'alice' };

type Options = Omit<Partial<Parameters<typeof createOAuthStore>[0]>, 'storage' | 'now'>;

export async function setUpOAuthStore({
  database: given,
  browse = (url) => url,
  ...options
}: Options & {
  database?: Config['database'];
  /** Where a person's browser finds an address. */
  browse?: (url: string) => string;
} = {}) {
  const { now, turn } = createTurnedClock();
  const { storage, database, folder } = await openTestStorage({ ...(given && { database: given }), now });
  const keys = options.keys ?? parseKeys(generateKey('k1'));
  const settings = { publicUrl, ...options, storage, keys, now };
  const store = createOAuthStore(settings);

  /** Everything a person does between "Connect" and coming back. */
  async function connect(
    server: ServerConfig,
    {
      scopes,
      session = 'laptop',
      key = alice,
    }: { scopes?: string[]; session?: string; key?: ConnectionKey } = {},
  ) {
    const { url } = await store.begin({
      server,
      key: { ...key, user: server.credentialScope === 'project' ? null : key.user },
      elicitationId: 'q1',
      sessionHash: session,
      scopes,
    });
    const callback = await followRedirects(browse(url), `${settings.publicUrl}/auth/callback`);
    return store.complete({
      callback,
      sessionHash: session,
      serverByName: () => server,
      mayChange: async () => true,
    });
  }

  return {
    storage,
    keys,
    folder,
    store,
    connect,
    /** Another process on the same database. */
    another: (more: Options & { now?: () => number } = {}) => createOAuthStore({ ...settings, ...more }),
    later: turn,
    database,
  };
}
