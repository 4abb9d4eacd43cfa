/** Ends a turn for its workflow, which could not end it or makes room for another. */
import type { Logger } from 'pino';
import type { Ending } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import { turnEnded } from '../telemetry/events.ts';
import { traceEnd } from '../telemetry/traces/turn-spans.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import type { Turn, TurnEnd, TurnEndStatus } from '../turn/turn.ts';

interface Parts {
  storage: Pick<Storage, 'turns' | 'turnLog' | 'turnTraces'>;
  logger: Logger;
}

export interface Aftermath {
  status: TurnEndStatus;
  code?: string | undefined;
  startedAt: number;
}

/** False where it had ended before. `keepsCalls`: servers are not asked to abandon its calls. */
export async function endTurn(
  parts: Parts,
  turn: Turn,
  { status, failure }: TurnEnd,
  { keepsCalls, audit }: Pick<Ending, 'audit'> & { keepsCalls?: true } = {},
): Promise<boolean> {
  const ended = await parts.storage.turns.end(turn, status, {
    resultOf: unfinishedCallResult(turn, status),
    events: failure
      ? [{ key: 'error', event: { type: 'error', code: failure.code, errorText: failure.message } }]
      : [],
    ...(keepsCalls && { keepsCalls }),
    audit,
  });
  if (!ended) return false;
  afterEnd(parts, turn, { status, code: failure?.code, startedAt: ended.startedAt });
  return true;
}

/** The end is written. */
export function afterEnd(
  { storage, logger }: Parts,
  turn: Turn,
  { status, code, startedAt }: Aftermath,
): void {
  turnEnded(logger, turn, { status, code, startedAt });
  traceEnd({ storage }, turn, { status, code });
  storage.turnLog.mergeLater(turn);
}
