import type { Logger } from 'pino';
import type { NewEvent } from '../storage/ports/turn-log.ts';
import type { Storage } from '../storage/storage.ts';
import { collectingCalls, turnEnded } from '../telemetry/events.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import type { Turn, TurnEnd, TurnEndStatus, TurnFailure } from '../turn/turn.ts';

export interface EndTurnInput extends TurnEnd {
  turn: Turn;
  /** False when its first model call has not returned. The user's message is written all the same. */
  isBegun: boolean;
}

interface Dependencies {
  storage: Pick<Storage, 'turns' | 'turnLog' | 'turnTraces'>;
  logger: Logger;
}

export function createTurnActivities({ storage, logger }: Dependencies) {
  const { turns } = storage;
  return {
    /** Activities of the turn stop: its end only waits for them. */
    announceEnd: ({ turn }: { turn: Turn }): Promise<void> => turns.announceEnd(turn),

    /** Returns the status with which the turn has ended, which may have been written before. */
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

/** To be called once the end of a turn is written. */
export function afterEnd(
  { storage, logger }: { storage: Pick<Storage, 'turnLog' | 'turnTraces'>; logger: Logger },
  turn: Turn,
  end: Parameters<typeof turnEnded>[2],
): void {
  turnEnded({ storage, logger }, turn, end);
  // Makes the log smaller, which nothing waits for.
  storage.turnLog.mergeLater(turn);
}

/** Null where it was withdrawn, or is not over. */
async function statusOfEnded(
  turns: Pick<Storage['turns'], 'get'>,
  turn: Turn,
): Promise<TurnEndStatus | null> {
  const row = await turns.get(turn);
  return !row || row.status === 'starting' || row.status === 'running' ? null : row.status;
}

function failureEvent({ code, message }: TurnFailure): NewEvent {
  return { key: 'error', event: { type: 'error', code, errorText: message } };
}
