/** A caller's conversations: their list, what was said in one, page by page, and what happens in it from now on. */
import type { Config } from '../platform/config/config.ts';
import type { ConversationRow, ListedConversation, BegunTurn } from '../storage/tables/conversations.ts';
import { withImages } from '../storage/tables/images.ts';
import type { Storage } from '../storage/storage.ts';
import type { ConversationRef } from '../turn/turn.ts';
import { ownConversation } from './own-turn.ts';
import { ownerOf, isOwner } from './principal.ts';
import type { Principal } from './principal.ts';
import type { LogEntry } from '../turn/event.ts';

/** The last conversation of a page. The list is sorted by the last change, newest first. */
type ListPosition = Pick<ConversationRow, 'updatedAt' | 'conversation'>;

interface ConversationPage {
  items: ListedConversation[];
  /** The position of the next page; null on the last page. */
  next: ListPosition | null;
}

/** A turn and its messages; the log is null while the turn runs. */
export type ReadTurn = Pick<BegunTurn, 'turnId' | 'given' | 'log'>;

export interface ReadConversation {
  conversation: ConversationRow;
  liveTurn: string | null;
  /** Oldest first. */
  turns: ReadTurn[];
  /** The turn before which the page of earlier ones ends; null when this is the first page. */
  next: { seq: number } | null;
  /** The position of the log to follow from. */
  position: number;
}

interface TurnsPage {
  before: number | null;
  limit: number;
  /** Include the bytes of the newest images, up to the limit for one reader. */
  images?: boolean;
}

interface Parts {
  storage: Storage;
  config: Pick<Config, 'images'>;
}

export async function listConversations(
  { storage }: { storage: Storage },
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

/** The newest turns of those that began before sequence number `before`. */
export async function readConversation(
  { storage, config }: Parts,
  principal: Principal,
  conversation: string,
  { before, limit, images = false }: TurnsPage,
): Promise<ReadConversation> {
  const own = await ownConversation(storage, principal, conversation);
  // In this order, what happens between the reads is in the feed once more, and a turn that ends between them is reported as
  // live, which does no harm. In another order something could be missing from both.
  const position = await storage.turnLog.latest(own);
  const live = await storage.turns.live(own);
  const waiting = live || before !== null ? null : await acceptedTurn(storage, own);
  const begun = await storage.conversations.turns(own, { before, limit });
  const [oldest] = begun;
  // It may have begun since.
  const newest = waiting && begun.every(({ turnId }) => turnId !== waiting.turnId) ? [waiting] : [];
  return {
    conversation: own,
    liveTurn: live?.turnId ?? waiting?.turnId ?? null,
    turns: images ? await withTheirImages(storage, [...begun, ...newest], config) : [...begun, ...newest],
    // Every conversation begins with a turn, so only its first turn has the number 1.
    next: oldest && oldest.seq > 1 ? { seq: oldest.seq } : null,
    position,
  };
}

/** A turn that no worker has taken up yet. Its user expects to see it. */
async function acceptedTurn({ conversations }: Storage, ref: ConversationRef): Promise<ReadTurn | null> {
  const [turn] = await conversations.starting(ref);
  return turn ? { ...turn, log: null } : null;
}

async function withTheirImages(
  { images }: Storage,
  turns: ReadTurn[],
  config: Pick<Config, 'images'>,
): Promise<ReadTurn[]> {
  const all = turns.flatMap(({ given }) => given);
  const shown = await withImages(images, all, config.images.maxBytesPerConversation);
  return turns.map((turn) => ({ ...turn, given: shown.filter(({ turnId }) => turnId === turn.turnId) }));
}

export interface FollowedConversation {
  /** `batches` begin after this sequence number. */
  after: number;
  /** As they come, never empty, until the signal aborts. */
  batches: AsyncIterable<ConversationBatch>;
}

interface ConversationBatch {
  /** The agent that the conversation is with. */
  agent: string;
  entries: LogEntry[];
}

interface Position {
  /** A sequence number; `latest`: only new entries. */
  after: number | 'latest';
  signal: AbortSignal;
}

/** Everything that happens in a conversation, across its turns, from any position of its log. */
export async function followConversation(
  storage: Storage,
  principal: Principal,
  conversation: string,
  { after, signal }: Position,
): Promise<FollowedConversation> {
  const own = await ownConversation(storage, principal, conversation);
  const start = after === 'latest' ? await storage.turnLog.latest(own) : after;
  return { after: start, batches: batchesOf(storage, principal, own, { after: start, signal }) };
}

async function* batchesOf(
  { turnLog, turns }: Storage,
  principal: Principal,
  ref: ConversationRef,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ConversationBatch> {
  let agent: string | undefined;
  for await (const entries of turnLog.follow(ref, after, signal)) {
    if (agent === undefined) {
      // If its first turn was withdrawn, it is gone, and another user may have begun a conversation with the same id.
      const conversation = await turns.conversation(ref);
      if (!conversation || !isOwner(conversation, principal)) return;
      ({ agent } = conversation);
    }
    yield { agent, entries };
  }
}
