/**
 * Accounts that Nango keeps. We only store which of its connections belongs to whom: (tenant, server, user) → connection
 * id. A connection is recorded once Nango itself says that it came of an attempt of that person.
 */
import type { CredentialStore } from '../credential-store.ts';
import { begin } from './begin.ts';
import type { NangoAttempt, NangoBegin } from './begin.ts';
import { createNangoClient } from './client.ts';
import { createRemoveUnused, discard, disconnect } from './disconnect.ts';
import { accountStatusOf, installationOf } from './link.ts';
import { catchUp, confirm, look } from './record.ts';
import type { Confirmation } from './record.ts';
import { reject, resolve } from './resolve.ts';
import { createTokens } from './tokens.ts';
import type { NangoOptions, NangoParts } from './parts.ts';

export interface NangoStore extends CredentialStore {
  readonly connectedBy: 'window';
  /**
   * Begins an attempt to connect an account, or goes on with the open one of the question. Throws `CredentialStoreError`.
   */
  begin(input: NangoBegin): Promise<NangoAttempt>;
  /**
   * Records the connection if Nango confirms that it came of this attempt. Idempotent. Throws `CredentialStoreError` when
   * Nango cannot be asked.
   */
  confirm(attemptId: string, connectionId: string): Promise<Confirmation>;
  /** The same for any connection that came of the attempt. */
  look(attemptId: string): Promise<Confirmation>;
  /** Ends a connection whose attempt is unknown, if it is one of ours. */
  discard(integration: string, connectionId: string): Promise<void>;
}

export function createNangoStore(options: NangoOptions): NangoStore {
  const { now = Date.now, timeoutMs = 5_000, disconnectWaitMs = 10_000 } = options;
  const { nango, publicUrl, logger, keys } = options;
  const client = createNangoClient({ nango, logger, timeoutMs });
  const parts: NangoParts = {
    ...options,
    now,
    timeoutMs,
    disconnectWaitMs,
    client,
    installation: installationOf(publicUrl),
    removeUnused: createRemoveUnused({ client, logger }),
    tokens: createTokens({ client, now }),
  };
  return {
    connectedBy: 'window',
    confirm: (attemptId, connectionId) => confirm(parts, attemptId, connectionId),
    look: (attemptId) => look(parts, attemptId),
    catchUp: (server, key) => catchUp({ ...parts, server }, key),
    resolve: (server, key) => resolve({ ...parts, server }, key),
    reject: (server, key, refusal) => reject({ ...parts, server }, key, refusal),
    statusOf: (row, server) => accountStatusOf(keys, row, server),
    disconnect: (key, server) => disconnect(parts, key, server),
    discard: (integration, connectionId) => discard(parts, integration, connectionId),
    begin: (input) => begin(parts, input),
  };
}
