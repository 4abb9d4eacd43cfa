/** Short-lived and per-server records of the OAuth flows. Payloads are sealed by the caller. */
export interface OAuthRecords {
  saveAttempt(attempt: OAuthAttempt): Promise<void>;
  /** Single use: returns the attempt and forgets it, or null when unknown, used or expired. */
  takeAttempt(stateHash: string, now: number): Promise<OAuthAttempt | null>;
  /** What is known about a server or authorization server; `key` names it. */
  remember(key: string, sealed: string): Promise<void>;
  recall(key: string): Promise<{ sealed: string; updatedAt: number } | null>;
  forget(key: string): Promise<void>;
}

export interface OAuthAttempt {
  /** SHA-256 of the state parameter. */
  stateHash: string;
  /** The question it is to answer; null when the user connects of their own accord. */
  elicitationId: string | null;
  /** SHA-256 of the browser session the attempt belongs to. */
  sessionHash: string;
  sealed: string;
  expiresAt: number;
}
