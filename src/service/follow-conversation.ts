/** Everything that happens in a conversation, across its turns, from any position of its log. */
import type { Storage } from '../storage/storage.ts';
import type { LogEntry } from '../turn/event.ts';
import type { ConversationRef } from '../turn/turn.ts';
import { ownConversation } from './conversation-access.ts';
import { isOwner } from './principal.ts';
import type { Principal } from './principal.ts';

export interface FollowedConversation {
  /** The sequence number after which `batches` begin. */
  after: number;
  /** As they come, never empty; they end when the signal aborts. */
  batches: AsyncIterable<ConversationBatch>;
}

export interface ConversationBatch {
  /** The agent that the conversation is with. */
  agent: string;
  entries: LogEntry[];
}

interface Position {
  /** A sequence number; `latest`: only what is new. */
  after: number | 'latest';
  signal: AbortSignal;
}

type Parts = Pick<Storage, 'turnLog' | 'turns'>;

export async function followConversation(
  storage: Parts,
  principal: Principal,
  conversation: string,
  { after, signal }: Position,
): Promise<FollowedConversation> {
  const own = await ownConversation(storage, principal, conversation);
  const start = after === 'latest' ? await storage.turnLog.latest(own) : after;
  return { after: start, batches: batchesOf(storage, principal, own, { after: start, signal }) };
}

async function* batchesOf(
  { turnLog, turns }: Parts,
  principal: Principal,
  ref: ConversationRef,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<ConversationBatch> {
  let agent: string | undefined;
  for await (const entries of turnLog.follow(ref, after, signal)) {
    if (agent === undefined) {
      // One whose first turn was withdrawn is gone, and somebody else may have begun another of that name.
      const conversation = await turns.conversation(ref);
      if (!conversation || !isOwner(conversation, principal)) return;
      ({ agent } = conversation);
    }
    yield { agent, entries };
  }
}
