/**
 * The message id and idempotency key of a call, so that a repeated call does not become a second turn. With
 * `streamRetries`, the SDK repeats a failed call. It signals that by cancelling the stream with the error that came from
 * it; the next call with the same content is the same call.
 */
import { randomId, toHex } from '../new-message.ts';
import type { InterludeCallOptions } from './call.ts';

interface CallNames {
  messageId: string;
  idempotencyKey?: string;
}

export interface Naming {
  /** `words`: the whole content of a call. */
  nameCall(words: string, given: InterludeCallOptions): Promise<CallNames>;
  /** The SDK is going to repeat this call. */
  willRepeat(words: string, names: CallNames): void;
}

/** It repeats the call at once. */
const repeatsWithinMs = 10_000;

export function createNaming(now: () => number = Date.now): Naming {
  let expected: { words: string; names: CallNames; at: number }[] = [];

  return {
    async nameCall(words, given) {
      expected = expected.filter(({ at }) => now() - at < repeatsWithinMs);
      const known = expected.find((call) => call.words === words);
      expected = expected.filter((call) => call !== known);
      if (known) return known.names;

      const { conversationId, messageId, idempotencyKey } = given;
      if (idempotencyKey !== undefined)
        // The service compares the requests under one key, and the message id is part of them.
        return { messageId: messageId ?? (await digest(idempotencyKey)), idempotencyKey };
      // Without a conversation, the service cannot look up the message id.
      return {
        messageId: messageId ?? randomId(),
        ...(conversationId === undefined && { idempotencyKey: randomId() }),
      };
    },

    willRepeat(words, names) {
      expected.push({ words, names, at: now() });
    },
  };
}

async function digest(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
