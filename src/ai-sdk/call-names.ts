/**
 * Under which names a call goes to the service, which keep it from being two turns. The SDK can be told to make a call
 * again that has failed (`streamRetries`), and says so by cancelling the stream with the error it got from it: the
 * next call with the same words then is the same call.
 */
import { randomId, toHex } from '../client/random-id.ts';
import type { InterludeCallOptions } from './call.ts';

export interface CallNames {
  messageId: string;
  idempotencyKey?: string;
}

export interface Naming {
  /** `words`: everything that a call says. */
  nameCall(words: string, given: InterludeCallOptions): Promise<CallNames>;
  /** The SDK has given this call up in order to make it again. */
  comesAgain(words: string, names: CallNames): void;
}

/** It makes the call again at once. */
const comesAgainWithinMs = 10_000;

export function createNaming(now: () => number = Date.now): Naming {
  let expected: { words: string; names: CallNames; at: number }[] = [];

  return {
    async nameCall(words, given) {
      expected = expected.filter(({ at }) => now() - at < comesAgainWithinMs);
      const known = expected.find((call) => call.words === words);
      expected = expected.filter((call) => call !== known);
      if (known) return known.names;

      const { conversationId, messageId, idempotencyKey } = given;
      if (idempotencyKey !== undefined)
        // The service compares what comes under one key, and the message's id is part of it.
        return { messageId: messageId ?? (await digest(idempotencyKey)), idempotencyKey };
      // Without a conversation there is nothing that the message's id could be looked up in.
      return {
        messageId: messageId ?? randomId(),
        ...(conversationId === undefined && { idempotencyKey: randomId() }),
      };
    },

    comesAgain(words, names) {
      expected.push({ words, names, at: now() });
    },
  };
}

async function digest(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}
