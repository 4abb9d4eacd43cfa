import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { TurnOwner } from '../../turn/turn.ts';

/** Whose account at which server. `user` is null for a credential shared by the whole tenant (scope `project`). */
export interface ConnectionKey {
  tenant: string;
  server: string;
  user: string | null;
}

export interface ConnectionRow extends ConnectionKey {
  store: string;
  /** Counts successful connects, from 1. A question remembers the version that failed it. */
  version: number;
  status: 'active' | 'broken';
  brokenReason: ConnectionReason | null;
  /** As whom, for people to read ("alice@example.com"); null when the provider does not say. */
  account: string | null;
  scopes: string[];
  createdAt: number;
  updatedAt: number;
  /** The store's secret material, sealed (see credentials/sealing/key-ring.ts), and when it stops being fresh. */
  sealed: string;
  freshUntil: number | null;
  /** Since when its store has been unable to say whether it still works; null while it can. */
  troubledAt: number | null;
}

export interface Connections {
  get(key: ConnectionKey): Promise<ConnectionRow | null>;
  list(owner: TurnOwner): Promise<ConnectionRow[]>;
  /**
   * Creates or replaces the connection as `active` with the next version, and returns that version. For a user's own account
   * the questions that wait for it are settled in the same transaction; for a shared one the version is committed first, and
   * the questions follow in batches, which a repeated call of `settleConnected` completes.
   */
  establish(
    key: ConnectionKey,
    connection: Pick<ConnectionRow, 'store' | 'account' | 'scopes' | 'sealed' | 'freshUntil'>,
  ): Promise<number>;
  /** Settles the questions that wait for an older version of this account than the current one. Idempotent. */
  settleConnected(key: ConnectionKey): Promise<void>;
  /** Refreshed secrets of the same version. Compare-and-set on `version` and the previous `sealed`. */
  refresh(
    row: ConnectionRow,
    next: Pick<ConnectionRow, 'sealed' | 'freshUntil' | 'scopes'>,
  ): Promise<boolean>;
  /** `active` → `broken`, only if `version` is still current. */
  markBroken(key: ConnectionKey, version: number, reason: ConnectionReason): Promise<boolean>;
  /** Remembers since when there is trouble, or with null that it is over, only if `version` is still current. */
  markTroubled(key: ConnectionKey, version: number, since: number | null): Promise<void>;
  /** Forgets the account and its secret, and answers with what there was; null when there was no connection. */
  remove(key: ConnectionKey): Promise<ConnectionRow | null>;
  /** Of the newest connection there was, also when it is removed by now: the next one has a higher version. 0: never any. */
  lastVersion(key: ConnectionKey): Promise<number>;
  /** Runs `work` while no other process holds the lock of this connection. Waits at most `waitMs`, then rejects. */
  withLock<T>(key: ConnectionKey, waitMs: number, work: () => Promise<T>): Promise<T>;
}
