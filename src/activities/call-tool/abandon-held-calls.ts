/**
 * A worker that held the connection of a call has died, and the next attempt begins anew: the server, which may still
 * wait for an answer on the old one, is told that nobody comes back. Best effort.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { Resume } from '../../remote/input-required.ts';
import type { Turn } from '../../turn/turn.ts';
import type { Round } from './rounds.ts';
import { credentialOrNone } from './resolve-credential.ts';
import type { CallParts } from './attempt.ts';

export async function abandonHeldCalls(
  { storeOf, remote }: Pick<CallParts, 'storeOf' | 'remote'>,
  { server, turn, signal }: { server: ServerConfig; turn: Turn; signal: AbortSignal },
  rounds: Round[],
): Promise<void> {
  const calls = new Map<string, Resume>();
  for (const { resume } of rounds)
    if (resume.kind === 'held' && resume.call) calls.set(resume.call.sessionId, resume);
  if (calls.size === 0) return;
  const credential = await credentialOrNone(storeOf(server), server, turn);
  if (!credential) return;
  await Promise.all(
    [...calls.values()].map((call) => remote.cancelCall({ server, credential, signal }, call)),
  );
}
