/**
 * Follows one turn to its end through any number of broken connections. Every connection replays the turn from
 * its start, so the replay is folded from nothing and merged into what was seen: the reader gets views that only
 * grow. A stream that merely ends says nothing about the turn; only `finish` or `abort` do.
 */
import { foldChunk } from './fold-chunk.ts';
import { unexpectedResponse } from './interlude-error.ts';
import { readChunks } from './read-chunks.ts';
import { pause, retryDelayMs } from './retry.ts';
import type { Timing } from './retry.ts';
import { ConnectionLost } from './send.ts';
import { isSameView, mergeReplay, newView } from './turn-view.ts';
import type { TurnView } from './turn-view.ts';
import { watchSilence } from './watch-silence.ts';

export type ConnectionStatus = 'reconnecting' | 'connected';

export interface FollowOptions {
  /** Stops following, not the turn. */
  signal?: AbortSignal;
  /** Hears of `reconnecting` once per interruption, and of `connected` when it is over. */
  onStatus?: (status: ConnectionStatus) => void;
}

interface Follow extends FollowOptions {
  timing: Timing;
  /** A fresh stream of the turn; 204 when there is nothing to follow. */
  connect: (signal: AbortSignal) => Promise<Response>;
}

export async function* followTurn(follow: Follow): AsyncGenerator<TurnView, void> {
  const { timing, connect, signal, onStatus } = follow;
  let seen: TurnView | undefined;
  let attempt = 0;
  let isLost = false;

  for (;;) {
    signal?.throwIfAborted();
    const openedAt = Date.now();
    let retryAfterMs = 0;
    const watch = watchSilence(timing.silenceMs, signal);
    try {
      const response = await connect(watch.signal);
      if (isLost) onStatus?.('connected');
      isLost = false;
      const turnId = response.headers.get('x-turn-id');
      if (response.status === 204 || (seen && seen.turnId !== turnId)) {
        if (seen) yield { ...seen, status: 'unseen' };
        return;
      }
      if (!response.body || !isEventStream(response)) throw unexpectedResponse(response);

      const before = seen;
      let replay = newView(turnId);
      for await (const chunk of readChunks(response.body, () => watch.alive())) {
        replay = foldChunk(replay, chunk);
        const view: TurnView = before ? mergeReplay(before, replay) : replay;
        if (seen && isSameView(seen, view)) continue;
        seen = view;
        attempt = 0;
        yield view;
        if (view.status !== 'running') return;
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof ConnectionLost)) throw error;
      ({ retryAfterMs } = error);
    } finally {
      watch.stop();
    }
    if (!isLost) onStatus?.('reconnecting');
    isLost = true;
    // A connection that held for a while was a good one, though nothing happened on it.
    if (Date.now() - openedAt > timing.lastRetryMs) attempt = 0;
    await pause(Math.max(retryAfterMs, retryDelayMs(attempt, timing)), signal);
    attempt += 1;
  }
}

function isEventStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}
