import type { ConnectionKey } from './connections.ts';

/**
 * Somebody on the way to an account that is kept elsewhere. Whatever comes of it is recognised by the id, for days: who
 * closes the window too early, or comes back too late, has connected an account all the same.
 */
export interface ConnectAttempt extends ConnectionKey {
  /** Random; says nothing about anybody. */
  id: string;
  /** The question it is to answer; null when the user connects of their own accord. */
  elicitationId: string | null;
  /** Who began it: for an account that is shared, that is not `user`. */
  actor: string;
  createdAt: number;
  expiresAt: number;
}

export interface ConnectAttempts {
  save(attempt: ConnectAttempt): Promise<void>;
  /** Null when unknown, expired or dropped. */
  get(id: string): Promise<ConnectAttempt | null>;
  /** Those that may still bring an account, newest first. */
  openOf(key: ConnectionKey): Promise<ConnectAttempt[]>;
  /** Whether this person has begun something within the last twelve hours that may still bring an account. */
  isUnderway(by: { tenant: string; actor: string }): Promise<boolean>;
  /** Whatever still comes of them is not wanted any more. */
  dropOf(key: ConnectionKey): Promise<void>;
}
