/** Stops a turn at its owner's or an operator's wish, and ends a turn whose workflow cannot. */
import type { Logger } from 'pino';
import type { Ending } from '../storage/tables/turn-end.ts';
import type { TurnRow } from '../storage/tables/turn-rows.ts';
import type { Storage } from '../storage/storage.ts';
import { collectingCalls, turnEnded } from '../platform/telemetry/events.ts';
import { unfinishedCallResult } from '../turn/call-result.ts';
import type { Turn, TurnEnd } from '../turn/turn.ts';
import { failureEvent } from '../turn/for-person.ts';
import type { AuditEntry } from '../storage/schema/question-tables.ts';
import { ownConversation, liveTurn } from './own-turn.ts';
import type { Principal } from './principal.ts';

interface Parts {
  storage: Pick<Storage, 'turns' | 'turnLog' | 'turnTraces'>;
  logger: Logger;
}

/**
 * False: it had ended before. `keepsCalls`: servers are not asked to abandon its calls. `mayHaveRun`: the database does not know
 * what became of its calls.
 */
export async function endTurn(
  parts: Parts,
  turn: Turn,
  { status, failure }: TurnEnd,
  {
    keepsCalls,
    mayHaveRun = false,
    audit,
  }: Pick<Ending, 'audit'> & { keepsCalls?: true; mayHaveRun?: boolean } = {},
): Promise<boolean> {
  const result = unfinishedCallResult(turn, status);
  const { unfinished, resultOf } = collectingCalls(
    mayHaveRun ? (call) => result({ ...call, state: 'started' }) : result,
  );
  const ended = await parts.storage.turns.end(turn, status, {
    resultOf,
    events: failure ? [failureEvent(failure)] : [],
    ...(keepsCalls && { keepsCalls }),
    audit,
  });
  if (!ended) return false;
  afterEnd(parts, turn, { status, code: failure?.code, startedAt: ended.startedAt, unfinished });
  return true;
}

/** What follows once the end is written. */
export function afterEnd(parts: Parts, turn: Turn, end: Parameters<typeof turnEnded>[2]): void {
  turnEnded(parts, turn, end);
  parts.storage.turnLog.mergeLater(turn);
}

/** `cancelling`: the turn was asked to stop and has not ended yet. */
export interface Cancelled {
  status: 'cancelling' | 'idle';
  turnId?: string;
}

/**
 * Asks the conversation's live turn to stop; with `turnId`, only if it is this one. Asking again is harmless. Needs no Temporal:
 * the row says that the turn is to stop, and the outbox cancels its workflow.
 */
export async function cancelTurn(
  { storage, logger }: { storage: Storage; logger: Logger },
  principal: Principal,
  { conversation, turnId }: { conversation: string; turnId?: string },
): Promise<Cancelled> {
  const live = await liveTurn(storage, await ownConversation(storage, principal, conversation));
  if (!live || (turnId !== undefined && live.turnId !== turnId)) return { status: 'idle' };
  const row = await storage.turns.get(live);
  const isStopped = row !== null && (await stopTurn({ storage, logger }, row));
  return isStopped ? { status: 'cancelling', turnId: live.turnId } : { status: 'idle' };
}

/** False: it had ended, or was stopping already. */
export async function stopTurn(
  { storage, logger }: Parts,
  turn: TurnRow,
  audit?: AuditEntry,
): Promise<boolean> {
  // No worker runs a turn without a version, so the turn cannot end itself.
  return turn.buildId === null
    ? endTurn({ storage, logger }, turn, { status: 'cancelled' }, { audit })
    : storage.turns.cancel(turn, audit);
}
