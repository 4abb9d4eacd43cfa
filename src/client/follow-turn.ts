/**
 * Follows one turn to its end through any number of broken connections. Every connection replays the turn from
 * its start, so the replay is folded from nothing and merged into what was seen: the reader gets views that never
 * fall back. Only `finish` or `abort` say that the turn is over.
 */
import type { OnElicitation, Questions } from './answer-questions.ts';
import { foldChunk } from './fold-chunk.ts';
import { unexpectedResponse } from './interlude-error.ts';
import { readChunks } from './read-chunks.ts';
import { reconnecting, streamOf } from './reconnect.ts';
import type { ReadOptions, Reconnect } from './reconnect.ts';
import { isSameView, mergeReplay, newFold } from './turn-view.ts';
import type { Fold, TurnView } from './turn-view.ts';

export interface FollowOptions extends ReadOptions {
  /** Instead of the client's. */
  onElicitation?: OnElicitation;
  /** Fills `TurnView.operations`. */
  operations?: boolean;
}

interface Follow extends Reconnect {
  /** Unless the service is to name it. */
  conversationId: string | undefined;
  questions: Questions;
}

export async function* followTurn(follow: Follow): AsyncGenerator<TurnView, void> {
  const { questions, conversationId, ...options } = follow;
  const signals = [options.signal, questions.failed].filter((signal) => signal !== undefined);
  const reconnect: Reconnect = {
    ...options,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  };
  let seen: Fold | undefined;

  try {
    yield* reconnecting(reconnect, async function* (response, { alive, advanced }) {
      const turnId = response.headers.get('x-turn-id');
      if (response.status === 204 || (seen && seen.view.turnId !== turnId)) {
        if (seen) yield { ...seen.view, status: 'unseen' };
        return 'over';
      }
      const body = streamOf(response);
      const conversation = conversationId ?? response.headers.get('x-conversation-id');
      if (conversation === null) throw unexpectedResponse(response);

      const before = seen;
      let replay = newFold(conversation, turnId);
      for await (const chunk of readChunks(body, alive)) {
        replay = foldChunk(replay, chunk);
        const fold: Fold = before ? mergeReplay(before, replay) : replay;
        const { view } = fold;
        const hasChanged = !seen || !isSameView(seen.view, view);
        seen = fold;
        if (!hasChanged) continue;
        advanced();
        questions.see(view);
        yield view;
        if (view.status !== 'running') return 'over';
      }
      return 'cut';
    });
  } finally {
    questions.close();
  }
}
