/**
 * Tells a server that nobody comes back to a call which it still keeps: one that was left to it while people think, or
 * one whose worker has died with the line in its hands. A courtesy: nobody waits for it, and it is not repeated.
 */
import type { ServerConfig } from '../../config/config.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import { sayGoodbye } from '../../remote/best-effort.ts';
import type { RunningCall } from '../../remote/input-required.ts';
import { abandonServerCall } from '../../remote/mcp/legacy/observe-call.ts';
import type { RoundRef } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import type { OpenRoundsDependencies } from './open-rounds.ts';
import type { Round } from './rounds.ts';
import { credentialOrNone } from './resolve-credential.ts';

export function createAbandonCall({ rounds, servers, storeOf }: OpenRoundsDependencies) {
  return {
    /** Resolves when it knows what is to be said; the end of the turn, which forgets that, may be written then. */
    async abandonCall({ turn, toolCallId, server: name, round: number }: RoundRef): Promise<void> {
      const server = servers.get(name);
      const call = runningCall((await rounds.list(turn, toolCallId))[number - 1]);
      if (server && call) void sayGoodbye(abandon({ store: storeOf(server), server, turn }, call));
    },
  };
}

async function abandon(
  { store, server, turn }: { store: CredentialStore; server: ServerConfig; turn: Turn },
  call: RunningCall,
): Promise<void> {
  const credential = await credentialOrNone(store, server, turn);
  const { signal } = new AbortController();
  if (credential) await abandonServerCall({ server, credential, signal }, call);
}

function runningCall(round: Round | undefined): RunningCall | undefined {
  const resume = round?.resume;
  return resume?.kind === 'detached' || resume?.kind === 'held' ? resume.call : undefined;
}
