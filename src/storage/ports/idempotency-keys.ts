import type { TurnOwner } from '../../turn/turn.ts';

/** What an `Idempotency-Key` was used for: always the same message in the same conversation. */
export interface KeyUse extends TurnOwner {
  key: string;
  /** Of the request, to notice that the key came with another one. */
  fingerprint: string;
  conversation: string;
  clientMessageId: string;
}

export interface IdempotencyKeys {
  /**
   * The first use of a key wins; answers with that one. An earlier use counts for `withinMs` (a day at most, and unless
   * given); with `isNew` none does.
   */
  claim(use: KeyUse, options?: { isNew?: boolean; withinMs?: number }): Promise<KeyUse>;
}
