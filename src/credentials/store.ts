/**
 * The interface of a credential store, which keeps users' accounts at servers. Everything outside `credentials/` knows
 * stores only by this: resolve a credential for one call, or return why a person has to act.
 */
import type { ConnectedBy, ConnectionReason } from '../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../storage/ports/connections.ts';
import type { ServerConfig } from '../config/config.ts';

/** Headers to send with one MCP request. Lives in memory of that call only. */
export interface Credential {
  kind: 'credential';
  headers: Record<string, string>;
  /** Connection version these headers belong to; 0 for servers that need none. */
  version: number;
  /** Identifies the secret without revealing it, so that a refusal can name the credential that was refused. */
  tokenId?: string;
}

/** A person has to act. `seenVersion`: the connection version that did not work (0 = there was none). */
export interface ConnectionRequired {
  kind: 'connection-required';
  reason: ConnectionReason;
  seenVersion: number;
  scopes?: string[];
}

/** A refusal that need not be about the credential comes so soon after a person connected it that it is not. */
export interface Unrelated {
  kind: 'unrelated';
}

/** `version` and `tokenId` are those of the refused credential; `challenge` is the `WWW-Authenticate` header. */
export interface Refusal {
  version: number;
  tokenId?: string | undefined;
  status: number;
  challenge: string | null;
  /** The server has answered in a way that may also mean something else: a redirect, a page, 400. */
  isDoubtful?: boolean;
}

/**
 * Whether a stored connection can be used. `server_changed`: it was connected for an address that the configuration no
 * longer contains. `client_refused`: its sign-in server does not accept this service as a client, which the operator has
 * to correct. `host`: the address it is for; null where that is unknown.
 */
export type AccountStatus = { host: string | null } & (
  | { status: 'active' }
  | {
      status: 'broken';
      reason: Exclude<ConnectionReason, 'missing'> | 'server_changed' | 'unreadable' | 'client_refused';
    }
);

/** The result of revoking tokens at their provider. `reason` is for operators. */
export type Revocation =
  | { kind: 'revoked' }
  /** The provider, or the system that keeps the account, has no way to revoke. */
  | { kind: 'not-offered' }
  /** The tokens may stay valid at the provider, but are not stored here any more. */
  | { kind: 'failed'; reason: string };

export type Disconnected = { kind: 'nothing-there' } | { kind: 'removed'; revocation: Revocation };

export interface CredentialStore {
  /** What pages and questions show follows from it. */
  readonly connectedBy: ConnectedBy;
  /** Fresh headers, refreshing under a lock when needed. Throws `CredentialStoreError` when the store cannot tell. */
  resolve(server: ServerConfig, key: ConnectionKey): Promise<Credential | ConnectionRequired>;
  /**
   * Reports that the server refused the credential. Returns another credential if there is one to try (renewed, or
   * connected meanwhile), else what to ask the user for; then the connection is marked broken if its version is current and
   * the refusal leaves no doubt.
   */
  reject(
    server: ServerConfig,
    key: ConnectionKey,
    refusal: Refusal,
  ): Promise<Credential | ConnectionRequired | Unrelated>;
  /**
   * For a store that keeps accounts in another system: records accounts that were connected there without our being
   * notified. Undefined for the others. Throws `CredentialStoreError` when the other system gives no answer.
   */
  catchUp?(server: ServerConfig, key: ConnectionKey): Promise<void>;
  /** Reads only the row: no requests, no writes. `server` is undefined when the configuration no longer contains it. */
  statusOf(row: ConnectionRow, server: ServerConfig | undefined): AccountStatus;
  /**
   * Removes the connection and revokes its tokens at the provider; removes it even if revoking fails. Calls that already
   * have the credential keep it. Idempotent.
   */
  disconnect(key: ConnectionKey, server: ServerConfig | undefined): Promise<Disconnected>;
}
