/** What the functions of this folder work with. */
import type { Logger } from 'pino';
import type { ConnectionKey } from '../../storage/schema/account-tables.ts';
import type { Config, NangoConfig, ServerConfig } from '../../platform/config/config.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { NangoClient } from './client.ts';
import type { Tokens } from './tokens.ts';

export interface NangoOptions {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  nango: NangoConfig;
  /** Our address, which tells our connections from those of other installations in the same Nango environment. */
  publicUrl: string;
  servers: Config['servers'];
  logger: Logger;
  /** Audits an account that was found at Nango and that neither its page nor its webhook had reported. */
  confirmFound: ConfirmFound;
  now?: () => number;
  /** Of each request to Nango. Default five seconds. */
  timeoutMs?: number;
  /** How long a disconnect waits for a connection that is being recorded. Default ten seconds. */
  disconnectWaitMs?: number;
}

export interface NangoParts extends Required<NangoOptions> {
  installation: string;
  client: NangoClient;
  removeUnused: RemoveUnused;
  tokens: Tokens;
}

export type ServerParts = NangoParts & { server: ServerConfig };

/**
 * Ends a connection at Nango that nothing refers to. Best effort: one that cannot be ended is left there, and not tried
 * again. Never throws.
 */
export type RemoveUnused = (integration: string, connectionId: string) => Promise<void>;

/** The attempt has brought an account. */
export interface Connected {
  kind: 'connected';
  key: ConnectionKey;
  elicitationId: string | null;
  actor: string;
  version: number;
  account: string | null;
  /** False: it had been recorded before. */
  isNew: boolean;
}

/** Called once for every account that is recorded here first. */
export type ConfirmFound = (found: Connected) => Promise<void>;
