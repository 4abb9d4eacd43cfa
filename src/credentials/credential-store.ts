/**
 * The interface of a credential store, which keeps users' accounts at servers. Everything outside `credentials/` knows
 * stores only by this: resolve a credential for one call, or return why a person has to act. Also what all stores build
 * their results from.
 */
import { hash } from 'node:crypto';
import type { ConnectedBy, ConnectionReason } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../storage/schema/account-tables.ts';
import type { ServerConfig } from '../platform/config/config.ts';
import type { AccountTrouble } from '../turn/account-trouble.ts';
import { accountTrouble } from '../turn/words/en.ts';

/** The headers for the requests of one call, in memory only. */
export interface Credential {
  kind: 'credential';
  headers: Record<string, string>;
  /** The version of the connection; 0 when the server needs none. */
  version: number;
  /** Identifies the secret without revealing it, so that a refusal can name the refused credential. */
  tokenId?: string;
}

/** A person has to act. `seenVersion`: the version of the connection that did not work; 0 if there was none. */
export interface ConnectionRequired {
  kind: 'connection-required';
  reason: ConnectionReason;
  seenVersion: number;
  scopes?: string[];
}

/** A doubtful refusal that came so soon after the person connected that it is not about the credential. */
export interface Unrelated {
  kind: 'unrelated';
}

/** `version` and `tokenId` are those of the refused credential; `challenge` is the `WWW-Authenticate` header. */
export interface Refusal {
  version: number;
  tokenId?: string | undefined;
  status: number;
  challenge: string | null;
  /** The answer may also mean something else: a redirect, a page, 400. */
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
  /** Determines what pages and questions show. */
  readonly connectedBy: ConnectedBy;
  /** Valid headers, renewed under a lock if needed. Throws `CredentialStoreError` when the store cannot answer. */
  resolve(server: ServerConfig, key: ConnectionKey): Promise<Credential | ConnectionRequired>;
  /**
   * Reports that the server refused the credential. Returns another one if there is one (renewed, or connected meanwhile),
   * else what to ask the user for. Then the connection is marked as broken, if its version is current and the refusal
   * leaves no doubt.
   */
  reject(
    server: ServerConfig,
    key: ConnectionKey,
    refusal: Refusal,
  ): Promise<Credential | ConnectionRequired | Unrelated>;
  /**
   * For stores that keep accounts in another system: records accounts that were connected there and not reported. Throws
   * `CredentialStoreError` when that system gives no answer.
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

interface More {
  retryAfterMs?: number | undefined;
  detail?: string | undefined;
  isOperators?: boolean;
}

/**
 * The store cannot answer (network, outage, wrong key), so no user is asked to connect. Its trouble is safe to show in the
 * person's language; the message says it in English.
 */
export class CredentialStoreError extends Error {
  override name = 'CredentialStoreError';
  readonly trouble: AccountTrouble;
  /** When to try again; absent when waiting does not help. */
  readonly retryAfterMs: number | undefined;
  /** Additional information, only for operators. */
  detail: string | undefined;
  readonly isOperators: boolean;
  constructor(trouble: AccountTrouble, { retryAfterMs, detail, isOperators = false }: More = {}) {
    super(accountTrouble(trouble));
    this.trouble = trouble;
    this.retryAfterMs = retryAfterMs;
    this.detail = detail;
    this.isOperators = isOperators;
  }
  get forOperator(): string {
    return this.detail === undefined ? this.message : `${this.message} (${this.detail})`;
  }
}

export type ErrorSubject = Pick<ServerConfig, 'title' | 'url' | 'local'>;

/** How a trouble names a server. */
export function shownServer({ title, url }: ErrorSubject): string {
  return `${title} (${new URL(url).host})`;
}

/** Of the troubles without data. */
type PlainTrouble = Exclude<
  AccountTrouble,
  { status: number } | { error: string | null } | { why: string }
>['code'];

/** Without `cause`, because the error text of a peer may quote a token. `detail` is for operators only. */
export function storeError(server: ErrorSubject, code: PlainTrouble, detail?: string): CredentialStoreError {
  return new CredentialStoreError({ code, server: shownServer(server) }, { detail });
}

export function operatorError(
  server: ErrorSubject,
  code: PlainTrouble,
  detail: string,
): CredentialStoreError {
  return new CredentialStoreError({ code, server: shownServer(server) }, { detail, isOperators: true });
}

export type Resolution = Credential | ConnectionRequired;

/** For a server that needs no account. */
export const noCredential: Credential = { kind: 'credential', headers: {}, version: 0 };

export function connectionRequired(
  reason: ConnectionReason,
  seenVersion: number,
  scopes: string[] = [],
): ConnectionRequired {
  return { kind: 'connection-required', reason, seenVersion, ...(scopes.length > 0 && { scopes }) };
}

/** A doubtful answer to a younger account has another reason. */
const provenMs = 10 * 60_000;

/** What a doubtful refusal means when the credential cannot be renewed. */
export function afterDoubtfulRefusal(
  row: Pick<ConnectionRow, 'version' | 'scopes'>,
  { connectedAt, now }: { connectedAt: number; now: number },
): ConnectionRequired | Unrelated {
  return now - connectedAt < provenMs
    ? { kind: 'unrelated' }
    : connectionRequired('rejected', row.version, row.scopes);
}

export function brokenStatus({ brokenReason }: ConnectionRow, host: string): AccountStatus {
  const isSaid = brokenReason !== null && brokenReason !== 'missing';
  return { host, status: 'broken', reason: isSaid ? brokenReason : 'rejected' };
}

/** Identifies a secret without revealing it. */
export function tokenIdOf(secret: string): string {
  return hash('sha256', secret, 'base64url').slice(0, 16);
}

/** Errors about any other header value would quote it. */
export function fitsInHeader(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret);
}
