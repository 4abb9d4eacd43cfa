/**
 * Reads the feed of a conversation while a turn is at work, but not between turns, nor while a turn waits for a person: a
 * browser has six connections to a service for all its windows together.
 */
import type { Client } from '@interlude-ai/client/client.ts';
import type { FeedItem } from '@interlude-ai/client/follow.ts';
import { InterludeError } from '@interlude-ai/client/interlude-error.ts';

interface Parts {
  client: Client;
  conversation: string;
  see: (item: FeedItem) => void;
  /** Reading has failed; the next `wake` tries again. */
  fail: (problem: unknown) => void;
}

export interface FollowedTurns {
  /** There may be new events. */
  wake(): void;
  /** Stops reading; the next `wake` reads what has come meanwhile. */
  leave(): void;
}

interface Reading {
  leaving: AbortController;
  /** `wake` was called while this reading was under way. */
  mustReadAgain: boolean;
}

/** A turn with an open question may still do other work. */
const quietMs = 1_000;

export function followTurns({ client, conversation, see, fail }: Parts): FollowedTurns {
  const turns = new Set<string>();
  const questions = new Set<string>();
  let after = 0;
  let reading: Reading | undefined;

  function take(item: FeedItem) {
    const { event } = item;
    ({ seq: after } = item);
    if (event.type === 'turn-started') turns.add(String(event['turnId']));
    if (event.type === 'elicitation-request') {
      if (event['status'] === 'pending') questions.add(String(event['elicitationId']));
      else questions.delete(String(event['elicitationId']));
    }
    if (event.type === 'turn-ended') {
      turns.delete(String(event['turnId']));
      questions.clear();
    }
    see(item);
  }

  /** Resolves when there is nothing to wait for. */
  async function read(leaving: AbortSignal): Promise<void> {
    const { position, turn } = await client.conversation(conversation, { limit: 1, signal: leaving });
    // A turn that has begun may not have written an event yet.
    if (turn) turns.add(turn.turnId);
    const resting = new AbortController();
    const signal = AbortSignal.any([leaving, resting.signal]);
    let timer: ReturnType<typeof setTimeout> | undefined;
    function restSoon() {
      clearTimeout(timer);
      const isAtWork = turns.size > 0 && questions.size === 0;
      if (after >= position && !isAtWork)
        timer = setTimeout(() => resting.abort(), turns.size === 0 ? 0 : quietMs);
    }
    try {
      restSoon();
      for await (const item of client.events(conversation, { after, signal })) {
        if (signal.aborted) return;
        take(item);
        restSoon();
      }
    } catch (error) {
      if (!resting.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function readOn(mine: Reading): Promise<void> {
    do {
      mine.mustReadAgain = false;
      try {
        await read(mine.leaving.signal);
      } catch (problem) {
        // An unknown conversation is not stored yet: `wake` is called when it is, or already was.
        const isUnknown = problem instanceof InterludeError && problem.status === 404;
        if (!mine.leaving.signal.aborted && !isUnknown) fail(problem);
        if (!isUnknown) break;
      }
    } while (mine.mustReadAgain && !mine.leaving.signal.aborted);
    if (reading === mine) reading = undefined;
  }

  return {
    wake() {
      if (reading) reading.mustReadAgain = true;
      else void readOn((reading = { leaving: new AbortController(), mustReadAgain: false }));
    },
    leave() {
      reading?.leaving.abort();
      reading = undefined;
    },
  };
}
