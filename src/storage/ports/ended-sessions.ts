/** Sessions of the pages that were ended before they expired: their cookies may have been copied. */
export interface EndedSessions {
  /** `idHash`: of the session's id. Forgotten at `expiresAt`, when no process accepts the cookie any more. */
  add(session: { idHash: string; expiresAt: number }): Promise<void>;
  has(idHash: string): Promise<boolean>;
}
