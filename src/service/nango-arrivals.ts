/**
 * What Nango has to say of an attempt to connect, whoever gives the hint: the page or a webhook. The store asks Nango
 * itself and records; here it enters the audit, and the turns that wait are told.
 */
import type { Logger } from 'pino';
import { auditEntryOf } from '../credentials/nango/audit-entry.ts';
import type { Confirmation, NangoStore } from '../credentials/nango/nango-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { ConnectionNews } from './connection-news.ts';

export interface NangoArrivals {
  /** Both throw `CredentialStoreError` when Nango cannot be asked. `address`: where the hint came from, if a person's. */
  confirm(attemptId: string, connectionId: string, address: string | null): Promise<Confirmation>;
  look(attemptId: string, address: string | null): Promise<Confirmation>;
}

interface Parts {
  store: Pick<NangoStore, 'confirm' | 'look'>;
  audit: Pick<Storage['audit'], 'record'>;
  announce: ConnectionNews['announce'];
  logger: Logger;
}

export function createNangoArrivals({ store, audit, announce, logger }: Parts): NangoArrivals {
  async function pass(found: Confirmation, address: string | null): Promise<Confirmation> {
    if (found.kind !== 'connected') return found;
    const { key, version, isNews } = found;
    if (isNews) await audit.record(auditEntryOf(found, { at: Date.now(), address }));
    // The account is there; should telling the turns fail, reconciliation finds them.
    await announce(key, version).catch((error: unknown) =>
      logger.error({ err: error, server: key.server }, 'could not tell the turns of a new connection'),
    );
    return found;
  }

  return {
    confirm: async (attemptId, connectionId, address) =>
      pass(await store.confirm(attemptId, connectionId), address),
    look: async (attemptId, address) => pass(await store.look(attemptId), address),
  };
}
