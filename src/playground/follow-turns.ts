/**
 * Reads the feed of a conversation as long as its turns have something to tell. A browser has six connections to a service
 * for all its windows together, so one is held only while a turn is at work: not between turns, and not while one waits
 * for a person.
 */
import type { Client } from '../client/client.ts';
import type { FeedItem } from '../client/follow-feed.ts';
import { InterludeError } from '../client/interlude-error.ts';

interface Parts {
  client: Client;
  conversation: string;
  see: (item: FeedItem) => void;
  /** Whoever wakes it next tries again. */
  fail: (problem: unknown) => void;
}

export interface FollowedTurns {
  /** There may be something to hear. */
  wake(): void;
  /** Nobody looks any more; what comes meanwhile is read after the next `wake`. */
  leave(): void;
}

interface Reading {
  leaving: AbortController;
  /** There may be more to hear than was known when it began. */
  mustReadAgain: boolean;
}

/** A turn that asks may still be at other work. */
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
    // It may be under way, and not have written anything down yet.
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
        // Of a conversation that is not there yet, somebody will tell, or already has.
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
