/**
 * Follows conversations' logs, however many readers each has: they share one tail per conversation. A database that
 * is away for a while only delays them; the streams to their clients stay open.
 */
import type { LogEntry } from '../../turn/event.ts';
import type { ConversationRef } from '../../turn/turn.ts';
import type { TurnLog } from '../ports/turn-log.ts';
import { unlessAborted } from '../notifications/unless-aborted.ts';
import { openTail } from './tail.ts';
import type { Tail, TailParts } from './tail.ts';

export function createFollow(parts: TailParts): TurnLog['follow'] {
  const tails = new Map<string, Tail>();

  function tailOf(ref: ConversationRef): Tail {
    const name = JSON.stringify([ref.tenant, ref.conversation]);
    const tail = tails.get(name) ?? openTail(ref, parts, () => tails.delete(name));
    tails.set(name, tail);
    return tail;
  }

  return async function* follow(ref, after, signal): AsyncGenerator<LogEntry[]> {
    if (signal.aborted) return;
    const follower = tailOf(ref).join(after);
    try {
      for (;;) {
        const entries = await unlessAborted(follower.next(signal), signal);
        if (!entries || signal.aborted) return;
        yield entries;
      }
    } finally {
      follower.leave();
    }
  };
}
