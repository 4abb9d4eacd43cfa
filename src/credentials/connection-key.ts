import type { ServerConfig } from '../config/config.ts';
import type { ConnectionKey } from '../storage/storage.ts';

/** Whose account a call to this server uses: the asking user's own, or one that the whole tenant shares. */
export function connectionKey(
  server: ServerConfig,
  owner: { tenant: string; user: string | null },
): ConnectionKey {
  return {
    tenant: owner.tenant,
    server: server.name,
    user: server.credentialScope === 'user' ? owner.user : null,
  };
}
