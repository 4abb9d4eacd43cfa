/**
 * A caller's own conversations and turns. A conversation of another owner looks exactly like one that does not exist. Only this
 * folder makes an `OwnTurn`: a surface that has only ids from its client gets one through `findTurn`, and so cannot show another
 * owner's turn by mistake.
 */
import type { ConversationRow } from '../storage/tables/conversations.ts';
import type { Storage } from '../storage/storage.ts';
import { ServiceError } from './service-error.ts';
import { isOwner, actorOf, ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';
import type { TurnRow, TurnFilter, TurnPosition } from '../storage/tables/turn-rows.ts';
import type { TurnRef, ConversationRef } from '../turn/turn.ts';
import { createRecordRefusal } from './authenticate.ts';

export type { TurnFilter } from '../storage/tables/turn-rows.ts';

/** The conversation if it is the caller's own; otherwise a `conversation_not_found`. */
export async function ownConversation(
  storage: Storage,
  principal: Principal,
  conversation: string,
): Promise<ConversationRow> {
  const own = await ownConversationIfAny(storage, principal, conversation);
  if (own) return own;
  throw conversationNotFound();
}

/** The same, but null when the tenant has no conversation of this id. */
export async function ownConversationIfAny(
  { turns }: Storage,
  principal: Principal,
  conversation: string,
): Promise<ConversationRow | null> {
  const known = await turns.conversation({ tenant: principal.tenant, conversation });
  if (known && !isOwner(known, principal)) throw conversationNotFound();
  return known;
}

/** Refuses a key that acts for a user, and audits the refusal. */
export async function requirePerson(
  { audit }: Pick<Storage, 'audit'>,
  principal: Principal,
  { detail, address }: { detail: string; address: string | null },
): Promise<void> {
  if (principal.kind !== 'user' || !principal.actor) return;
  const { tenant } = principal;
  await createRecordRefusal(audit)({
    tenant,
    elicitationId: '',
    actor: actorOf(principal),
    detail,
    address,
  });
  throw new ServiceError('person_required', 'Only the person can do this, signed in.');
}

export function conversationNotFound(): ServiceError {
  return new ServiceError('conversation_not_found', 'You have no conversation with this id.');
}

declare const owned: unique symbol;

export type OwnTurn = TurnRef & { readonly [owned]: true };

/** Call it only for a turn of a conversation that is the caller's own. */
export function toOwnTurn({ tenant, conversation, turnId }: TurnRef): OwnTurn {
  return { tenant, conversation, turnId } as OwnTurn;
}

export interface FoundTurn extends Pick<TurnRow, 'agent' | 'status' | 'createdAt' | 'endedAt' | 'usage'> {
  turn: OwnTurn;
}

export interface TurnIds {
  turnId: string;
  conversation?: string | undefined;
  /** Where the caller calls from, for the audit. */
  address?: string | null;
}

/**
 * Null when the caller has no such turn; if another owner has it, the attempt is audited. A conversation of another owner is
 * refused.
 */
export async function findTurn(
  storage: Storage,
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

/**
 * The turn that the conversation is busy with, also before a worker has taken it up. Null when the conversation is idle or does
 * not exist yet; another owner's is refused.
 */
export async function currentTurn(
  storage: Storage,
  principal: Principal,
  conversation: string,
): Promise<OwnTurn | null> {
  const own = await ownConversationIfAny(storage, principal, conversation);
  const live = own && (await liveTurn(storage, own));
  return live && toOwnTurn(live);
}

/** There is at most one. */
export async function liveTurn(
  { turns, conversations }: Storage,
  ref: ConversationRef,
): Promise<TurnRef | null> {
  const running = await turns.live(ref);
  if (running) return running;
  const [starting] = await conversations.starting(ref);
  // It may have begun between the two reads.
  return starting ? { ...ref, turnId: starting.turnId } : turns.live(ref);
}

/** A caller's turns, last changed first. */
interface TurnPage {
  turns: OwnTurn[];
  /** Of all pages. */
  total: number;
  /** The position of the next page; null on the last page. */
  next: TurnPosition | null;
}

export async function listTurns(
  { turns }: Storage,
  principal: Principal,
  filter: TurnFilter,
  { after, limit }: { after: TurnPosition | null; limit: number },
): Promise<TurnPage> {
  const { rows, total } = await turns.list(ownerOf(principal), filter, { after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next =
    last && rows.length > limit ? { changedAt: last.endedAt ?? last.createdAt, turnId: last.turnId } : null;
  return { turns: page.map(toOwnTurn), total, next };
}
