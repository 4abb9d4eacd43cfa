/**
 * Tells a server that a call which it still keeps open is abandoned: one that waits at the server for answers, one whose
 * worker died while it held the connection or followed a remote agent's task, or one whose workflow was ended from outside.
 * Best effort: not awaited, not retried.
 */
import type { Config, ServerConfig } from '../../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import { serverNameIn } from '../../remote/model-tools.ts';
import { sendBestEffort } from '../../remote/best-effort.ts';
import type { Resume } from '../../remote/input-required.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { RoundRef } from '../../turn/tool-call.ts';
import type { UnfinishedCall } from '../../storage/ports/tool-calls.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Delegation, Turn } from '../../turn/turn.ts';
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
 * worker died while it followed it: no round was ever reported to the workflow. Calls with open questions it abandons itself.
 */
export function createAbandonTasks(parts: LeftCallsDependencies) {
  return async (turn: Turn): Promise<void> => {
    const started = (call: UnfinishedCall) => call.state === 'started';
    for (const { server, resume } of await leftCalls(parts, turn, started)) {
      if (resume.kind !== 'task') continue;
      void sendBestEffort(abandon({ ...parts, store: parts.storeOf(server), server, turn }, resume));
    }
  };
}

/**
 * For a turn whose workflow was ended from outside, or for one of its agents: that workflow could abandon none of its calls,
 * not even those with open questions.
 */
export function createAbandonLostCalls(parts: LeftCallsDependencies) {
  /** `agent`: only its own calls. */
  return async (turn: Turn, agent?: Delegation): Promise<void> => {
    const isItsOwn = ({ delegation }: UnfinishedCall) =>
      !agent || delegation?.toolCallId === agent.toolCallId;
    for (const { server, resume } of await leftCalls(parts, turn, isItsOwn))
      void sendBestEffort(abandon({ ...parts, store: parts.storeOf(server), server, turn }, resume));
  };
}

/** For processes that run no activities. */
export function createAbandonLostTurn(
  parts: Pick<Dependencies, 'storeOf' | 'remote'> & { storage: Storage; config: Config; keys: KeyRing },
): (turn: Turn) => Promise<void> {
  const { servers } = parts.config;
  return createAbandonLostCalls({ ...parts, servers, rounds: createCallRounds(parts) });
}

interface LeftCallsDependencies extends Dependencies {
  storage: Pick<Storage, 'toolCalls'>;
}

interface LeftCall {
  server: ServerConfig;
  resume: Resume;
}

/** Of the turn's calls that are meant: those that servers keep open. */
async function leftCalls(
  { storage, rounds, servers }: LeftCallsDependencies,
  turn: Turn,
  isMeant: (call: UnfinishedCall) => boolean,
): Promise<LeftCall[]> {
  const calls = await storage.toolCalls.unfinished(turn);
  const left = calls.filter(isMeant).map(async (call) => {
    const server = serverOf(servers, call.toolName);
    const round = server && (await rounds.list(turn, call.toolCallId)).at(-1);
    return server && round && isLeftOpen(round) ? [{ server, resume: round.resume }] : [];
  });
  return (await Promise.all(left)).flat();
}

function serverOf(servers: Config['servers'], toolName: string): ServerConfig | undefined {
  return remoteAgentOf(servers, toolName) ?? servers.get(serverNameIn(toolName));
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
