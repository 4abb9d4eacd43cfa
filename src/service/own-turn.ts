/**
 * A turn whose owner is known to be the caller. Only this folder makes one, so that a surface which has no more than ids
 * from its client gets one through `findTurn`, and cannot show anybody else's turn by mistake.
 */
import type { Storage } from '../storage/storage.ts';
import type { TurnRow } from '../storage/ports/turns.ts';
import type { TurnRef } from '../turn/turn.ts';
import { ownConversation } from './conversation-access.ts';
import { actorOf, isOwner } from './principal.ts';
import type { Principal } from './principal.ts';
import { createRecordRefusal } from './record-refusal.ts';

declare const owned: unique symbol;

export type OwnTurn = TurnRef & { readonly [owned]: true };

/** To be called for a turn in a conversation of the caller's. */
export function toOwnTurn({ tenant, conversation, turnId }: TurnRef): OwnTurn {
  return { tenant, conversation, turnId } as OwnTurn;
}

export interface FoundTurn extends Pick<TurnRow, 'agent' | 'status' | 'createdAt' | 'endedAt' | 'usage'> {
  turn: OwnTurn;
}

export interface TurnIds {
  turnId: string;
  /** Left out: wherever the turn is. */
  conversation?: string | undefined;
  /** Where the caller calls from, for the audit. */
  address?: string | null;
}

/**
 * Null when the caller has no such turn; that somebody else has it is on record. Where a conversation is named, somebody else's
 * is refused.
 */
export async function findTurn(
  storage: Pick<Storage, 'turns' | 'audit'>,
  principal: Principal,
  { turnId, conversation, address = null }: TurnIds,
): Promise<FoundTurn | null> {
  const { tenant } = principal;
  if (conversation !== undefined) await ownConversation(storage, principal, conversation);
  const row =
    conversation === undefined
      ? await storage.turns.find({ tenant, turnId })
      : await storage.turns.get({ tenant, conversation, turnId });
  if (!row) return null;
  if (!isOwner(row, principal)) {
    await createRecordRefusal(storage.audit)({
      tenant,
      elicitationId: '',
      actor: actorOf(principal),
      detail: 'turn of somebody else',
      address,
    });
    return null;
  }
  const { agent, status, createdAt, endedAt, usage } = row;
  return { turn: toOwnTurn(row), agent, status, createdAt, endedAt, usage };
}
