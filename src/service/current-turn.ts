/** The turn that a conversation is busy with, also before a worker has taken it up. */
import type { Storage } from '../storage/storage.ts';
import type { TurnRef } from '../turn/turn.ts';
import { requireOwn } from './conversation-access.ts';
import type { Principal } from './principal.ts';
import type { TurnWorkflows } from './turn-workflows.ts';

interface Parts {
  storage: Pick<Storage, 'turns'>;
  workflows: Pick<TurnWorkflows, 'current'>;
}

/** Null when the conversation is idle, or does not exist yet; somebody else's is refused. */
export async function currentTurn(
  { storage, workflows }: Parts,
  principal: Principal,
  conversation: string,
): Promise<TurnRef | null> {
  const ref = { tenant: principal.tenant, conversation };
  const known = await storage.turns.conversation(ref);
  if (!known) return null;
  requireOwn(known, principal);
  const turnId = await workflows.current(ref);
  return turnId === null ? null : { ...ref, turnId };
}
