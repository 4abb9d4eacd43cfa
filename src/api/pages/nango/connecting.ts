/** What all ways of connecting by Nango on the pages have in common. */
import type { NangoStore } from '../../../credentials/nango/store.ts';
import type { ConnectAttempt } from '../../../storage/ports/connect-attempts.ts';
import type { ConnectionKey } from '../../../storage/ports/connections.ts';
import { createNangoArrivals } from '../../../service/nango-arrivals.ts';
import type { NangoArrivals } from '../../../service/nango-arrivals.ts';
import type { ConnectDeps } from '../deps.ts';
import type { PageScript } from '../layout.ts';
import { nowAndThen } from './looks.ts';

export interface NangoConnecting {
  store: NangoStore;
  /** Null: the pages do without. */
  script: PageScript | null;
  confirm: NangoArrivals['confirm'];
  /** May repeat what was found a moment ago. */
  look: NangoArrivals['look'];
  /**
   * Looks whether somebody has finished what they began before: they may have closed the window, or loaded the page
   * again. Answers with what they began. Throws `CredentialStoreError` when Nango cannot be asked.
   */
  lookBack(key: ConnectionKey, elicitationId: string | null, address: string): Promise<ConnectAttempt[]>;
}

export function createNangoConnecting(
  { storage, confirmConnection }: ConnectDeps,
  { store, script }: { store: NangoStore; script: PageScript | null },
): NangoConnecting {
  const { confirm, look } = createNangoArrivals({ store, confirmConnection });
  return {
    store,
    script,
    confirm,
    look: nowAndThen(look),
    async lookBack(key, elicitationId, address) {
      const open = await storage.connectAttempts.openOf(key);
      const own = open.filter((attempt) => attempt.elicitationId === elicitationId);
      const [latest] = own;
      if (latest) await look(latest.id, address);
      return own;
    },
  };
}
