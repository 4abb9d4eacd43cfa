import type { Logger } from 'pino';
import { unfinishedForModel } from '../elicitation/wording.ts';
import { turnEnded, turnStarted } from '../telemetry/events.ts';
import type { Turn, TurnEndStatus } from '../turn/turn.ts';
import type { NewEvent, Storage } from '../storage/storage.ts';
import { isDelegateTool } from './delegate-tool.ts';
import { createToolResults } from './tool-results.ts';

export interface TurnFailure {
  /** Stable, for clients to switch on. */
  code: string;
  /** Made for people: says what happened and what to do, names no secret. */
  message: string;
}

export function createTurnActivities({ storage, logger }: { storage: Storage; logger: Logger }) {
  const results = createToolResults(storage);
  return {
    /** False: the turn was withdrawn before it began, and must not run. */
    async beginTurn({ turn }: { turn: Turn }): Promise<boolean> {
      const begun = await storage.turns.begin(turn);
      if (begun) turnStarted(logger, turn);
      return begun;
    },

    /** Whoever works for the turn stops: its end is only waiting for them. */
    announceEnd: ({ turn }: { turn: Turn }): Promise<void> => storage.turns.announceEnd(turn),

    /** Closes everything that is still open, says why, writes the end and then merges the deltas. */
    async endTurn({
      turn,
      status,
      failure,
    }: {
      turn: Turn;
      status: TurnEndStatus;
      failure?: TurnFailure;
    }): Promise<void> {
      for (const call of await storage.toolCalls.unfinished(turn)) {
        const state = isDelegateTool(call.toolName) ? 'delegated' : call.state;
        await results.finish(turn, call, { kind: 'error', text: unfinishedForModel(status, state) });
      }
      if (failure) await storage.turnLog.append(turn, [failureEvent(failure)]);
      await storage.turns.end(turn, status);
      await storage.turnLog.merge(turn);
      const startedAt = (await storage.turns.get(turn))?.createdAt;
      turnEnded(logger, turn, { status, code: failure?.code, startedAt });
    },
  };
}

function failureEvent({ code, message }: TurnFailure): NewEvent {
  return { key: 'error', event: { type: 'error', code, errorText: message } };
}
