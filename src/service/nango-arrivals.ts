/**
 * What Nango has to say of an attempt to connect, whoever gives the hint: the page or a webhook. The store asks Nango
 * itself and records; what it recorded is confirmed here.
 */
import type { Confirmation } from '../credentials/nango/record.ts';
import type { NangoStore } from '../credentials/nango/store.ts';
import type { ConfirmConnection } from './confirm-connection.ts';

export interface NangoArrivals {
  /** Both throw `CredentialStoreError` when Nango cannot be asked. `address`: where the hint came from, if a person's. */
  confirm(attemptId: string, connectionId: string, address: string | null): Promise<Confirmation>;
  look(attemptId: string, address: string | null): Promise<Confirmation>;
}

interface Parts {
  store: Pick<NangoStore, 'confirm' | 'look'>;
  confirmConnection: ConfirmConnection;
}

export function createNangoArrivals({ store, confirmConnection }: Parts): NangoArrivals {
  async function pass(found: Confirmation, address: string | null): Promise<Confirmation> {
    if (found.kind !== 'connected') return found;
    const { key, version, actor, elicitationId, isNews: isNew } = found;
    await confirmConnection({ key, version, actor, elicitationId, address, isNew });
    return found;
  }

  return {
    confirm: async (attemptId, connectionId, address) =>
      pass(await store.confirm(attemptId, connectionId), address),
    look: async (attemptId, address) => pass(await store.look(attemptId), address),
  };
}
