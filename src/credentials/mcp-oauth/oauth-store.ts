/**
 * The built-in credential store: the client side of the MCP authorization specification. Tokens are in memory for one call,
 * and sealed everywhere else.
 */
import type { FetchLike } from '@modelcontextprotocol/client';
import type { ServerConfig } from '../../platform/config/agents-file/server-config.ts';
import type { Storage } from '../../storage/storage.ts';
import type { CredentialStore } from '../credential-store.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { accountStatusOf } from './account.ts';
import { disconnect } from './disconnect.ts';
import { createOutbound } from './outbound.ts';
import { createAttempts, createRecords } from './records.ts';
import { reject, resolve } from './resolve.ts';
import { begin, complete } from './sign-in.ts';
import type { BeginInput, CompleteInput, Completion } from './sign-in.ts';
import type { SharedParts } from './discovery.ts';

export interface OAuthStore extends CredentialStore {
  readonly connectedBy: 'sign-in';
  /** Where to send the person. Throws `CredentialStoreError`, whose message may be shown. */
  begin(input: BeginInput): Promise<{ url: string }>;
  /** Handles the person's return. Failures of the provider are outcomes; only our own database makes this reject. */
  complete(input: CompleteInput): Promise<Completion>;
}

interface Options {
  storage: Pick<Storage, 'connections' | 'oauth'>;
  keys: KeyRing;
  publicUrl: string;
  /**
   * All configured servers: a sign-in server that one of them uses needs the operator's agreement to be used by another.
   */
  servers?: ReadonlyMap<string, ServerConfig>;
  /** Reads a client secret that the agents file names. */
  secret?: (name: string) => string | undefined;
  fetch?: FetchLike;
  agentOf?: Parameters<typeof createOutbound>[0]['agentOf'];
  now?: () => number;
  /** How long a disconnect waits for a renewal that is under way, and then for the provider. Default ten seconds each. */
  disconnectWaitMs?: number;
}

export function createOAuthStore({
  storage,
  keys,
  publicUrl,
  servers = new Map(),
  secret = () => undefined,
  fetch,
  agentOf,
  now = Date.now,
  disconnectWaitMs = 10_000,
}: Options): OAuthStore {
  const parts: SharedParts = {
    storage,
    keys,
    publicUrl,
    servers,
    secret,
    now,
    disconnectWaitMs,
    outbound: createOutbound({ fetch, agentOf }),
    records: createRecords(storage.oauth, keys),
    attempts: createAttempts({ oauth: storage.oauth, keys, now }),
  };
  return {
    connectedBy: 'sign-in',
    resolve: (server, key) => resolve({ ...parts, server }, key),
    reject: (server, key, refusal) => reject({ ...parts, server }, key, refusal),
    statusOf: (row, server) => accountStatusOf(keys, row, server, now()),
    disconnect: (key, server) => disconnect(parts, key, server),
    begin: (input) => begin({ ...parts, server: input.server }, input),
    complete: (input) => complete(parts, input),
  };
}
