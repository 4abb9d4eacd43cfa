/**
 * The built-in credential store: the MCP authorization spec from the user's side. Tokens are in memory for one
 * call and sealed everywhere else.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../config/agents-file/server-config.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { CredentialStore } from '../store.ts';
import { createAttempts } from './attempt.ts';
import { createBegin } from './begin.ts';
import type { BeginInput } from './begin.ts';
import { createComplete } from './complete.ts';
import type { CompleteInput, Completion } from './complete.ts';
import { accountStatusOf } from './account.ts';
import { createDisconnect, createRevokeReplaced } from './disconnect.ts';
import { createDiscovery } from './discovery.ts';
import { createOutbound } from './outbound.ts';
import { createRecords } from './records.ts';
import { createRegistrations } from './registration.ts';
import { createRenew } from './renew.ts';
import { reject } from './reject.ts';
import { resolve } from './resolve.ts';
import { createRevoke } from './revoke.ts';
import { createTrustedIssuers } from './trusted-issuers.ts';

export interface OAuthStore extends CredentialStore {
  readonly connectedBy: 'sign-in';
  /** Where to send the person. Throws `CredentialStoreError`, whose message may be shown. */
  begin(input: BeginInput): Promise<{ url: string }>;
  /** What came back. Failures of the provider are answers; only our own database throws. */
  complete(input: CompleteInput): Promise<Completion>;
}

interface Options {
  storage: Pick<Storage, 'connections' | 'oauth'>;
  keys: KeyRing;
  publicUrl: string;
  /** All that are configured: what one of them uses, another does not get without the operator's word. */
  servers?: ReadonlyMap<string, ServerConfig>;
  /** Reads a client secret that the agents file names. */
  secret?: (name: string) => string | undefined;
  fetch?: FetchLike;
  agentOf?: Parameters<typeof createOutbound>[0]['agentOf'];
  now?: () => number;
  /** How long who disconnects waits for a refresh that is under way, and then for the provider. Default ten seconds each. */
  disconnectWaitMs?: number;
}

export function createOAuthStore(options: Options): OAuthStore {
  const { storage, keys, publicUrl, secret = () => undefined, fetch, agentOf, now = Date.now } = options;
  const { disconnectWaitMs = 10_000, servers = new Map() } = options;
  const outbound = createOutbound({ fetch, agentOf });
  const records = createRecords(storage.oauth, keys);
  const trustedIssuers = createTrustedIssuers({ records, servers });
  const discovery = createDiscovery({ records, outbound, trustedIssuers, now });
  const registrations = createRegistrations({ records, outbound, publicUrl, secret, now });
  const attempts = createAttempts({ oauth: storage.oauth, keys, now });
  const revoke = createRevoke({ discovery, registrations, outbound, timeoutMs: disconnectWaitMs });
  const renew = createRenew({ storage, keys, discovery, registrations, outbound, revoke, now });
  const resolver = { storage, keys, discovery, renew, now };
  return {
    connectedBy: 'sign-in',
    resolve: (server, key) => resolve(resolver, server, key),
    reject: (server, key, refusal) => reject(resolver, server, key, refusal),
    statusOf: (row, server) => accountStatusOf(keys, row, server, now()),
    disconnect: createDisconnect({ storage, keys, revoke, lockWaitMs: disconnectWaitMs }),
    begin: createBegin({ storage, keys, attempts, discovery, registrations, publicUrl }),
    complete: createComplete({
      storage,
      keys,
      attempts,
      discovery,
      registrations,
      outbound,
      revokeReplaced: createRevokeReplaced({ keys, revoke }),
      publicUrl,
      now,
    }),
  };
}
