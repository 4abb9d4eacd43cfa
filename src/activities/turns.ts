import type { Logger } from 'pino';
import type { Storage } from '../storage/storage.ts';
import { collectingCalls, turnEnded } from '../platform/telemetry/events.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import type { Turn, TurnEnd, TurnEndStatus } from '../turn/turn.ts';
import { failureEvent } from '../turn/for-person.ts';

interface EndTurnInput extends TurnEnd {
  turn: Turn;
  /** False when its first model call has not returned. The user's message is written even then. */
  isBegun: boolean;
}

export function createTurnActivities({ storage, logger }: { storage: Storage; logger: Logger }) {
  const { turns } = storage;
  return {
    /** Makes the turn's activities stop, so that it can end. */
    announceEnd: ({ turn }: { turn: Turn }): Promise<void> => turns.announceEnd(turn),

    /** Returns the status that the turn's row has, which may have been written before. */
    async endTurn({ turn, status, failure, isBegun }: EndTurnInput): Promise<{ status: TurnEndStatus }> {
      if (!isBegun) await turns.begin(turn);
      const { unfinished, resultOf } = collectingCalls(unfinishedCallResult(turn, status));
      const ended = await turns.end(turn, status, {
        isOwn: true,
        resultOf,
        events: failure ? [failureEvent(failure)] : [],
      });
      if (!ended) return { status: (await statusOfEnded(turns, turn)) ?? status };
      const { status: written, startedAt } = ended;
      afterEnd({ storage, logger }, turn, { status: written, code: failure?.code, startedAt, unfinished });
      return { status: written };
    },
  };
}

/** Call this once the end of a turn is written. */
export function afterEnd(
  { storage, logger }: { storage: Storage; logger: Logger },
  turn: Turn,
  end: Parameters<typeof turnEnded>[2],
): void {
  turnEnded({ storage, logger }, turn, end);
  // Makes the log smaller; nothing waits for it.
  storage.turnLog.mergeLater(turn);
}

/** Null if the turn was withdrawn, or has not ended. */
async function statusOfEnded(turns: Storage['turns'], turn: Turn): Promise<TurnEndStatus | null> {
  const row = await turns.get(turn);
  return !row || row.status === 'starting' || row.status === 'running' ? null : row.status;
}
