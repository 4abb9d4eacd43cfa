/**
 * Accounts that Nango keeps. Ours is only which of its connections belongs to whom: (tenant, server, user) → connection
 * id, recorded once Nango itself says that the connection came of an attempt of that person.
 */
import type { Logger } from 'pino';
import type { Config, NangoConfig } from '../../config/config.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { CredentialStore } from '../store.ts';
import { createBegin } from './begin.ts';
import type { NangoAttempt, NangoBegin } from './begin.ts';
import { createNangoClient } from './client.ts';
import { createDisconnect, createRemoveUnused } from './disconnect.ts';
import { installationOf, accountStatusOf } from './link.ts';
import { catchUp, confirm, look } from './look.ts';
import type { ConfirmFound } from './look.ts';
import type { Confirmation } from './record.ts';
import { reject } from './reject.ts';
import { resolve } from './resolve.ts';
import type { ResolverParts } from './resolve.ts';
import { createTokens } from './tokens.ts';

export interface NangoStore extends CredentialStore {
  readonly connectedBy: 'window';
  /** Lets somebody go there. The attempt that a question has already is taken up again. Throws `CredentialStoreError`. */
  begin(input: NangoBegin): Promise<NangoAttempt>;
  /**
   * Whether this connection came of this attempt, by what Nango says of it and nobody else, and if so, records it.
   * Idempotent. Throws `CredentialStoreError` when Nango cannot be asked.
   */
  confirm(attemptId: string, connectionId: string): Promise<Confirmation>;
  /** The same for whatever came of an attempt. */
  look(attemptId: string): Promise<Confirmation>;
  /** For a connection that somebody says belongs to an attempt nobody knows (any more): ends it, if it is ours. */
  discard(integration: string, connectionId: string): Promise<void>;
}

interface Options {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  nango: NangoConfig;
  /** Ours; tells our connections from those of others in the same environment of Nango. */
  publicUrl: string;
  servers: Config['servers'];
  logger: Logger;
  /** Audits an account that was found at Nango without our being told. */
  confirmFound: ConfirmFound;
  now?: () => number;
  /** For every single request to Nango. Default five seconds. */
  timeoutMs?: number;
  /** How long who disconnects waits for what is being recorded at the moment. Default ten seconds. */
  disconnectWaitMs?: number;
}

export function createNangoStore(options: Options): NangoStore {
  const { storage, keys, nango, publicUrl, servers, logger, confirmFound } = options;
  const { now = Date.now, timeoutMs = 5_000, disconnectWaitMs = 10_000 } = options;
  const installation = installationOf(publicUrl);
  const client = createNangoClient({ nango, logger, timeoutMs });
  const removeUnused = createRemoveUnused({ client, logger });
  const tokens = createTokens({ client, now });
  const finding = { storage, keys, client, removeUnused, installation, servers, confirmFound };
  const catchUpWith: ResolverParts['catchUp'] = (server, key) => catchUp(finding, server, key);
  const resolver = { storage, keys, tokens, catchUp: catchUpWith, logger, now };
  return {
    connectedBy: 'window',
    confirm: (attemptId, connectionId) => confirm(finding, attemptId, connectionId),
    look: (attemptId) => look(finding, attemptId),
    catchUp: catchUpWith,
    resolve: (server, key) => resolve(resolver, server, key),
    reject: (server, key, refusal) => reject(resolver, server, key, refusal),
    statusOf: (row, server) => accountStatusOf(keys, row, server),
    ...createDisconnect({
      storage,
      keys,
      client,
      tokens,
      removeUnused,
      installation,
      lockWaitMs: disconnectWaitMs,
      now,
    }),
    begin: createBegin({ storage, keys, client, nango, installation, now }),
  };
}
