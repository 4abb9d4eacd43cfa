/** Somebody comes back from a provider: what came of it, and if it is an account, it is confirmed. */
import type { Config } from '../config/config.ts';
import type { Completion } from '../credentials/mcp-oauth/complete.ts';
import type { OAuthStore } from '../credentials/mcp-oauth/store.ts';
import type { MayChange } from './account-rights.ts';
import type { ConfirmConnection } from './confirm-connection.ts';
import type { UserPrincipal } from './principal.ts';

export type { Completion };

export interface ReturnedBrowser {
  /** The address at which the browser came back, with all it brought. */
  callback: URL;
  sessionHash: string;
  principal: UserPrincipal;
  address: string;
}

export type CompleteAuthorization = (returned: ReturnedBrowser) => Promise<Completion>;

interface Parts {
  oauth: Pick<OAuthStore, 'complete'>;
  servers: Config['servers'];
  mayChange: MayChange;
  confirmConnection: ConfirmConnection;
}

export function createCompleteAuthorization(parts: Parts): CompleteAuthorization {
  const { oauth, servers, mayChange, confirmConnection } = parts;
  return async ({ callback, sessionHash, principal, address }) => {
    const completion = await oauth.complete({
      callback,
      sessionHash,
      serverByName: (name) => servers.get(name),
      mayChange: (key) => mayChange(principal, key),
    });
    if (completion.kind === 'connected') {
      const { key, elicitationId } = completion;
      const actor = principal.user;
      await confirmConnection({ key, actor, elicitationId, address, isNew: true });
    }
    return completion;
  };
}
