/**
 * Tells a server that a call which it still keeps open is abandoned: one that waits at the server for answers, one whose
 * worker died while it held the connection, or one whose worker died while it followed a remote agent's task. Best
 * effort: not awaited, not retried.
 */
import type { Config, ServerConfig } from '../../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import { sendBestEffort } from '../../remote/best-effort.ts';
import type { Resume } from '../../remote/input-required.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { RoundRef } from '../../turn/tool-call.ts';
import type { ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Turn } from '../../turn/turn.ts';
import { remoteAgentOf } from '../call-model/delegate-tool.ts';
import type { OpenRoundsDependencies } from './open-rounds.ts';
import { createCallRounds } from './rounds.ts';
import type { Round } from './rounds.ts';
import { credentialOrNone } from './resolve-credential.ts';

interface Dependencies extends OpenRoundsDependencies {
  remote: Pick<RemoteServers, 'cancelCall'>;
}

export function createAbandonCall({ rounds, servers, storeOf, remote }: Dependencies) {
  return {
    /** Resolves when it has read the call's round: only then may the end of the turn be written, which deletes rounds. */
    async abandonCall({ turn, toolCallId, server: name, round: number }: RoundRef): Promise<void> {
      const server = servers.get(name);
      const round = (await rounds.list(turn, toolCallId))[number - 1];
      if (!server || !round || !isLeftOpen(round)) return;
      void sendBestEffort(abandon({ remote, store: storeOf(server), server, turn }, round.resume));
    },
  };
}

/**
 * Abandons a turn's remote tasks; called at its end, before its rows are deleted. The workflow cannot do it for a task whose
 * worker died while it followed it: no round was ever reported to the workflow. `states`: of the calls to look at; tasks of
 * calls in other states are abandoned elsewhere.
 */
export function createAbandonTasks({ storage, states, rounds, servers, storeOf, remote }: TaskDependencies) {
  return async (turn: Turn): Promise<void> => {
    const calls = await storage.toolCalls.unfinished(turn);
    for (const { toolCallId, toolName, state } of calls) {
      const server = states.includes(state) ? remoteAgentOf(servers, toolName) : undefined;
      const round = server && (await rounds.list(turn, toolCallId)).at(-1);
      if (!server || round?.resume.kind !== 'task') continue;
      void sendBestEffort(abandon({ remote, store: storeOf(server), server, turn }, round.resume));
    }
  };
}

interface TaskDependencies extends Dependencies {
  storage: Storage;
  states: ToolCallRow['state'][];
}

/** For a turn whose workflow was ended from outside: it could abandon none of its calls, not even those with open questions. */
export function createAbandonLostTasks(
  parts: Pick<TaskDependencies, 'storage' | 'storeOf' | 'remote'> & { config: Config; keys: KeyRing },
) {
  const { servers } = parts.config;
  return createAbandonTasks({
    ...parts,
    servers,
    rounds: createCallRounds(parts),
    states: ['started', 'paused'],
  });
}

interface Abandoned extends Pick<Dependencies, 'remote'> {
  store: CredentialStore;
  server: ServerConfig;
  turn: Turn;
}

async function abandon({ remote, store, server, turn }: Abandoned, open: Resume): Promise<void> {
  const credential = await credentialOrNone(store, server, turn);
  const { signal } = new AbortController();
  if (credential) await remote.cancelCall({ server, credential, signal }, open);
}

function isLeftOpen({ resume }: Round): boolean {
  return resume.kind === 'held' ? resume.call !== undefined : ['detached', 'task'].includes(resume.kind);
}
