/**
 * How a person gives an account: what is asked for, the way to its provider and back, a key that they enter, Nango. For
 * surfaces on which people connect. Failures of a provider or a store are `CredentialStoreError`s with words for both the
 * person and the operator.
 */
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config/config.ts';
import type { BeginInput } from '../credentials/mcp-oauth/begin.ts';
import { storeOf } from '../credentials/stores.ts';
import type { Stores } from '../credentials/stores.ts';
import type { ConnectedBy } from '../elicitation/elicitation.ts';
import type { ConnectionKey } from '../storage/ports/connections.ts';
import type { Storage } from '../storage/storage.ts';
import type { MayChange } from './account-rights.ts';
import { createCompleteAuthorization } from './complete-authorization.ts';
import type { CompleteAuthorization } from './complete-authorization.ts';
import type { ConfirmConnection } from './confirm-connection.ts';
import { findConnectionQuestion } from './connection-question.ts';
import type { FoundQuestion } from './connection-question.ts';
import { createGiveKey } from './give-key.ts';
import type { GiveKey } from './give-key.ts';
import { createNangoAttempts } from './nango-attempts.ts';
import type { NangoAttempts } from './nango-attempts.ts';

export { CredentialStoreError } from '../credentials/store-error.ts';
export { permissionsAmong } from '../credentials/oauth/scopes.ts';
export type { BeginInput, ConnectionKey };

export interface Accounts {
  /** How a person gives an account of this server. */
  connectedBy(server: ServerConfig): ConnectedBy;
  findQuestion(elicitationId: string, person: { tenant: string; user: string }): Promise<FoundQuestion>;
  /** Whether the account works by now, and is a later version than this one. */
  isConnectedSince(key: ConnectionKey, version: number): Promise<boolean>;
  /** Where to send the person. */
  beginAuthorization(input: BeginInput): Promise<{ url: string }>;
  completeAuthorization: CompleteAuthorization;
  giveKey: GiveKey;
  /** Null where no server keeps its accounts at Nango. */
  nango: NangoAttempts | null;
}

/** What is needed of a store: a way there, and what to do with what comes back. */
type Connecting<Store> = Store extends null
  ? null
  : Pick<
      Store,
      Extract<keyof Store, 'connectedBy' | 'begin' | 'complete' | 'confirm' | 'look' | 'discard' | 'keep'>
    >;

export interface AccountsParts {
  config: Pick<Config, 'servers'>;
  storage: Pick<Storage, 'elicitations' | 'connections' | 'connectAttempts' | 'now'>;
  stores: { [Name in keyof Stores]: Connecting<Stores[Name]> };
  mayChange: MayChange;
  confirmConnection: ConfirmConnection;
  logger: Logger;
}

export function createAccounts(parts: AccountsParts): Accounts {
  const { config, storage, stores, mayChange, confirmConnection, logger } = parts;
  const { oauth, nango } = stores;
  const { servers } = config;
  const { connectAttempts } = storage;
  return {
    connectedBy: (server) => storeOf(stores, server).connectedBy,
    findQuestion: (elicitationId, person) => findConnectionQuestion(parts, elicitationId, person),
    async isConnectedSince(key, version) {
      const row = await storage.connections.get(key);
      return row?.status === 'active' && row.version > version;
    },
    async beginAuthorization(input) {
      const store = storeOf(stores, input.server);
      if (store.connectedBy !== 'sign-in') throw new Error(`Nobody signs in for ${input.server.name}`);
      return store.begin(input);
    },
    completeAuthorization: createCompleteAuthorization({ oauth, servers, mayChange, confirmConnection }),
    giveKey: createGiveKey({
      async keep(server, key, entered) {
        const store = storeOf(stores, server);
        if (store.connectedBy !== 'key') throw new Error(`Nobody enters a key for ${server.name}`);
        return store.keep(server, key, entered);
      },
      confirmConnection,
      logger,
    }),
    nango: nango && createNangoAttempts({ store: nango, connectAttempts, confirmConnection }),
  };
}
