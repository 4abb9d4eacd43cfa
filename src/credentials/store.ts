/**
 * A credential store keeps accounts connected. The rest of the program knows only this: resolve a
 * credential for one call, or learn why there is none.
 */
import type { ConnectionReason } from '../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../storage/ports/connections.ts';
import type { ServerConfig } from '../config/config.ts';

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

/**
 * What a stored connection is worth right now. `server_changed`: it was connected for an address that the
 * configuration does not have any more. `host`: the address it is for, where that can be told.
 */
export type Standing = { host: string | null } & (
  | { status: 'active' }
  | { status: 'broken'; reason: Exclude<ConnectionReason, 'missing'> | 'server_changed' | 'unreadable' }
);

/** What the provider said when it was told that its tokens are not used any more. `reason` is for operators. */
export type Revocation =
  | { kind: 'revoked' }
  /** There is no means for it: the provider has none, or whoever keeps the account there has none. */
  | { kind: 'not-offered' }
  /** The tokens may live on there, but nobody has them any more. */
  | { kind: 'failed'; reason: string };

export type Disconnected = { kind: 'nothing-there' } | { kind: 'removed'; revocation: Revocation };

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
  /**
   * Of a store that keeps accounts elsewhere: records what was connected there without our being told. Absent where
   * connecting cannot go unnoticed. Throws `CredentialStoreError` when the store cannot tell.
   */
  catchUp?(server: ServerConfig, key: ConnectionKey): Promise<void>;
  /** Asks nobody and changes nothing. `server` is undefined when the configuration does not have it any more. */
  standing(row: ConnectionRow, server: ServerConfig | undefined): Standing;
  /**
   * Removes the connection, whatever the provider says to it, and revokes its tokens there. A call that has its
   * credential already goes on with it as far as it gets. Idempotent.
   */
  disconnect(key: ConnectionKey, server: ServerConfig | undefined): Promise<Disconnected>;
}
