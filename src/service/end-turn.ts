/** Ends a turn for its workflow, which could not end it or makes room for another. */
import type { Logger } from 'pino';
import type { Ending } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import { collectingCalls, turnEnded } from '../telemetry/events.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import type { Turn, TurnEnd } from '../turn/turn.ts';

interface Parts {
  storage: Pick<Storage, 'turns' | 'turnLog' | 'turnTraces'>;
  logger: Logger;
}

/** False where it had ended before. `keepsCalls`: servers are not asked to abandon its calls. */
export async function endTurn(
  parts: Parts,
  turn: Turn,
  { status, failure }: TurnEnd,
  { keepsCalls, audit }: Pick<Ending, 'audit'> & { keepsCalls?: true } = {},
): Promise<boolean> {
  const { unfinished, resultOf } = collectingCalls(unfinishedCallResult(turn, status));
  const ended = await parts.storage.turns.end(turn, status, {
    resultOf,
    events: failure
      ? [{ key: 'error', event: { type: 'error', code: failure.code, errorText: failure.message } }]
      : [],
    ...(keepsCalls && { keepsCalls }),
    audit,
  });
  if (!ended) return false;
  afterEnd(parts, turn, { status, code: failure?.code, startedAt: ended.startedAt, unfinished });
  return true;
}

/** The end is written. */
export function afterEnd(parts: Parts, turn: Turn, end: Parameters<typeof turnEnded>[2]): void {
  turnEnded(parts, turn, end);
  parts.storage.turnLog.mergeLater(turn);
}
