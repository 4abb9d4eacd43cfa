/**
 * A credential store keeps accounts connected. The rest of the program knows only this: resolve a
 * credential for one call, or learn why there is none.
 */
import type { ConnectionReason } from '../elicitation/elicitation.ts';
import type { ConnectionKey } from '../storage/storage.ts';
import type { ServerConfig } from '../config.ts';

/** Headers to send with one MCP request. Lives in memory of that call only. */
export interface Credential {
  kind: 'credential';
  headers: Record<string, string>;
  /** Connection version these headers belong to; 0 for servers that need none. */
  version: number;
  /** Names this very secret without being one, so that a refusal can say which one was refused. */
  tokenId?: string;
}

/** A person has to act. `seenVersion`: the connection version that did not do (0 = there was none). */
export interface ConnectionRequired {
  kind: 'connection-required';
  reason: ConnectionReason;
  seenVersion: number;
  scopes?: string[];
}

/** `version` and `tokenId` are those of the refused credential; `challenge` is the `WWW-Authenticate` header. */
export interface Refusal {
  version: number;
  tokenId?: string | undefined;
  status: 401 | 403;
  challenge: string | null;
}

export interface CredentialStore {
  /** Fresh headers, refreshing under a lock when needed. Throws `CredentialStoreError` when the store cannot tell. */
  resolve(server: ServerConfig, key: ConnectionKey): Promise<Credential | ConnectionRequired>;
  /**
   * The server refused the credential.
   * Answers with another credential when there is one to try (renewed, or connected meanwhile), else with what to
   * ask for; then a connection that is of no use any more is marked broken if its version is still current.
   */
  reject(
    server: ServerConfig,
    key: ConnectionKey,
    refusal: Refusal,
  ): Promise<Credential | ConnectionRequired>;
}

/** The store itself cannot answer (network, outage, wrong key): nobody should be asked to connect because of it. */
export class CredentialStoreError extends Error {
  override name = 'CredentialStoreError';
}
