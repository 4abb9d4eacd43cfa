/** A caller's conversations: the list of them, and what was said in one, page by page. */
import type { Config } from '../config/config.ts';
import type { ConversationRow, ListedConversation, ToldTurn } from '../storage/ports/conversations.ts';
import { withImages } from '../storage/shown-images.ts';
import type { Storage } from '../storage/storage.ts';
import type { ConversationRef } from '../turn/turn.ts';
import { ownConversation } from './conversation-access.ts';
import { ownerOf } from './principal.ts';
import type { Principal } from './principal.ts';

/** The last conversation of a page, in a list that begins with the one changed last. */
export type ListPosition = Pick<ConversationRow, 'updatedAt' | 'conversation'>;

export interface ConversationPage {
  items: ListedConversation[];
  /** Where the next page goes on; null on the last. */
  next: ListPosition | null;
}

/** A turn with what was said in it; its log is null until it is over. */
export type ReadTurn = Pick<ToldTurn, 'turnId' | 'given' | 'log'>;

export interface ReadConversation {
  conversation: ConversationRow;
  liveTurn: string | null;
  /** Oldest first. */
  turns: ReadTurn[];
  /** Before which turn the page of earlier ones ends; null when this is the first. */
  next: { seq: number } | null;
  /** The position of the log to follow from. */
  position: number;
}

export interface TurnsPage {
  before: number | null;
  limit: number;
  /** With the bytes of the newest images, as many as one reader gets at once. Without, unless given. */
  images?: boolean;
}

interface Parts {
  storage: Pick<Storage, 'conversations' | 'images' | 'turnLog' | 'turns'>;
  config: Pick<Config, 'images'>;
}

export async function listConversations(
  { storage }: { storage: Pick<Storage, 'conversations'> },
  principal: Principal,
  { after, limit }: { after: ListPosition | null; limit: number },
): Promise<ConversationPage> {
  const rows = await storage.conversations.list(ownerOf(principal), { after, limit: limit + 1 });
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  if (!last || rows.length <= limit) return { items, next: null };
  const { updatedAt, conversation } = last;
  return { items, next: { updatedAt, conversation } };
}

/** The newest turns of those that began before the sequence number `before`. */
export async function readConversation(
  { storage, config }: Parts,
  principal: Principal,
  conversation: string,
  { before, limit, images = false }: TurnsPage,
): Promise<ReadConversation> {
  const own = await ownConversation(storage, principal, conversation);
  // In this order: what happens in between is told by the feed once more, and a turn that ends in between is said to
  // be live although its message is there, which does no harm. The other way round, it would be told by nobody.
  const position = await storage.turnLog.latest(own);
  const live = await storage.turns.live(own);
  const waiting = live || before !== null ? null : await acceptedTurn(storage, own);
  const begun = await storage.conversations.turns(own, { before, limit });
  const [oldest] = begun;
  // It may have begun in between.
  const newest = waiting && begun.every(({ turnId }) => turnId !== waiting.turnId) ? [waiting] : [];
  return {
    conversation: own,
    liveTurn: live?.turnId ?? waiting?.turnId ?? null,
    turns: images ? await withTheirImages(storage, [...begun, ...newest], config) : [...begun, ...newest],
    // Every conversation begins with a turn, so that only its first one has the number 1.
    next: oldest && oldest.seq > 1 ? { seq: oldest.seq } : null,
    position,
  };
}

/** Accepted, and no worker has taken it up yet: its user expects to see it. */
async function acceptedTurn(
  { conversations }: Pick<Storage, 'conversations'>,
  ref: ConversationRef,
): Promise<ReadTurn | null> {
  const [turn] = await conversations.starting(ref);
  return turn ? { ...turn, log: null } : null;
}

async function withTheirImages(
  { images }: Pick<Storage, 'images'>,
  turns: ReadTurn[],
  config: Pick<Config, 'images'>,
): Promise<ReadTurn[]> {
  const all = turns.flatMap(({ given }) => given);
  const shown = await withImages(images, all, config.images.maxBytesPerConversation);
  return turns.map((turn) => ({ ...turn, given: shown.filter(({ turnId }) => turnId === turn.turnId) }));
}
