/** An API key that somebody entered: kept, and every turn that waits for it told; or the reason why not. */
import type { ServerConfig } from '../../../config/config.ts';
import type { Kept } from '../../../credentials/vault/store.ts';
import type { ConnectionKey } from '../../../storage/ports/connections.ts';
import type { ConnectDeps } from '../deps.ts';
import type { KeyProblem } from './pages.ts';

interface Entry {
  server: ServerConfig;
  key: ConnectionKey;
  entered: string;
  /** Who entered it, and where. */
  user: string;
  address: string;
  /** Null when nobody asked. */
  elicitationId: string | null;
}

/** Null when it was kept. */
export type EnterKey = (entry: Entry) => Promise<KeyProblem | null>;

const statuses: Record<Exclude<Kept['kind'], 'kept'>, number> = {
  malformed: 422,
  refused: 422,
  'not-tried': 502,
};

export function createEnterKey({ stores, confirmConnection, logger }: ConnectDeps): EnterKey {
  return async ({ server, key, entered, user, address, elicitationId }) => {
    const kept = await stores.vault.keep(server, key, entered);
    if (kept.kind !== 'kept') {
      if ('reason' in kept)
        logger.warn({ server: server.name, elicitationId, reason: kept.reason }, 'an API key was not kept');
      return { status: statuses[kept.kind], message: kept.message };
    }
    const { version } = kept;
    await confirmConnection({ key, version, actor: user, elicitationId, address, isNew: true });
    return null;
  };
}
