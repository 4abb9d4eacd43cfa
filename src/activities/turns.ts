import type { Logger } from 'pino';
import { unfinishedForModel } from '../elicitation/wording.ts';
import type { Settlement } from '../elicitation/elicitation.ts';
import type { NewEvent } from '../storage/ports/turn-log.ts';
import type { Storage } from '../storage/storage.ts';
import type { ToolCallRow } from '../storage/ports/tool-calls.ts';
import { turnEnded } from '../telemetry/events.ts';
import type { ToolResult } from '../turn/tool-result.ts';
import type { Turn, TurnEnd, TurnEndStatus, TurnFailure } from '../turn/turn.ts';
import { isDelegateTool } from './call-model/delegate-tool.ts';
import { toCallResult } from './tool-results.ts';

export interface EndTurnInput extends TurnEnd {
  turn: Turn;
  /** Of questions, not written down yet as far as the workflow knows. */
  outcomes: Settlement[];
  /** Perhaps: its first model call did not come to an end. What its user said is told all the same. */
  isBegun: boolean;
}

interface Dependencies {
  storage: Storage;
  logger: Logger;
  /** Tells servers that nobody waits for calls that the turn's workflow could not abandon. */
  abandonCalls?: (turn: Turn) => Promise<void>;
}

export function createTurnActivities({ storage, logger, abandonCalls }: Dependencies) {
  return {
    /** Whoever works for the turn stops: its end is only waiting for them. */
    announceEnd: ({ turn }: { turn: Turn }): Promise<void> => storage.turns.announceEnd(turn),

    /** Closes everything that is still open and says why. The log is made smaller afterwards, which nobody waits for. */
    async endTurn({ turn, status, failure, outcomes, isBegun }: EndTurnInput): Promise<void> {
      if (!isBegun) await storage.turns.begin(turn);
      if (status !== 'completed') await abandonCalls?.(turn);
      const ended = await storage.turns.end(turn, status, {
        outcomes,
        resultOf: (call) => toCallResult(turn, call, unfinished(call, status)),
        events: failure ? [failureEvent(failure)] : [],
      });
      if (!ended) return;
      turnEnded(logger, turn, { status, code: failure?.code, startedAt: ended.startedAt });
      storage.turnLog.mergeLater(turn);
    },
  };
}

function unfinished({ toolName, state }: ToolCallRow, status: TurnEndStatus): ToolResult {
  return { kind: 'error', text: unfinishedForModel(status, isDelegateTool(toolName) ? 'delegated' : state) };
}

function failureEvent({ code, message }: TurnFailure): NewEvent {
  return { key: 'error', event: { type: 'error', code, errorText: message } };
}
