/** Asking the live turn of a conversation to stop, or a turn if it is the live one. Only its owner may, and asking again is harmless. */
import type { Logger } from 'pino';
import type { AuditEntry } from '../storage/ports/audit.ts';
import type { TurnRow } from '../storage/ports/turns.ts';
import type { Storage } from '../storage/storage.ts';
import { ownConversation } from './conversation-access.ts';
import { liveTurn } from './current-turn.ts';
import { endTurn } from './end-turn.ts';
import type { Principal } from './principal.ts';

/** `cancelling`: the turn was asked to stop and has not ended yet. */
export interface Cancelled {
  status: 'cancelling' | 'idle';
  turnId?: string;
}

interface Parts {
  storage: Pick<Storage, 'turns' | 'conversations' | 'turnLog' | 'turnTraces'>;
  logger: Logger;
}

/** Needs no Temporal: the row says that the turn is to stop, and the outbox cancels its workflow. */
export async function cancelTurn(
  { storage, logger }: Parts,
  principal: Principal,
  { conversation, turnId }: { conversation: string; turnId?: string },
): Promise<Cancelled> {
  const live = await liveTurn(storage, await ownConversation(storage, principal, conversation));
  if (!live || (turnId !== undefined && live.turnId !== turnId)) return { status: 'idle' };
  const row = await storage.turns.get(live);
  const isStopped = row !== null && (await stopTurn({ storage, logger }, row));
  return isStopped ? { status: 'cancelling', turnId: live.turnId } : { status: 'idle' };
}

/** False where it was over, or stopping already. */
export async function stopTurn(
  { storage, logger }: { storage: Pick<Storage, 'turns' | 'turnLog' | 'turnTraces'>; logger: Logger },
  turn: TurnRow,
  audit?: AuditEntry,
): Promise<boolean> {
  // No worker runs a turn without a version, so it cannot end itself.
  return turn.buildId === null
    ? endTurn({ storage, logger }, turn, { status: 'cancelled' }, { audit })
    : storage.turns.cancel(turn, audit);
}
