/**
 * Tells servers that a call which they still keep open is abandoned: it waits for answers, its worker died while it held
 * the connection or followed a remote agent's task, or its workflow was ended from outside. Best effort, not retried.
 */
import type { Config, ServerConfig } from '../../platform/config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/credential-store.ts';
import { sendBestEffort } from '../../remote/best-effort.ts';
import type { Resume } from '@interlude-ai/core/mcp/input-required.ts';
import { serverNameIn } from '../../remote/model-tools.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Turn, TurnRef } from '../../turn/turn.ts';
import { remoteAgentOf } from '../call-model/agent-tools.ts';
import { credentialOrNone } from './account.ts';
import { createCallRounds } from './rounds.ts';
import type { CallRounds, Round } from './rounds.ts';

interface AbandonParts {
  remote: RemoteServers;
  storeOf(server: ServerConfig): CredentialStore;
}

/** For the outbox: abandons the calls that an ended turn left open at servers, then deletes their rounds. */
export function createAbandonCalls(
  parts: AbandonParts & { config: Config; storage: Storage; keys: KeyRing },
): (turn: TurnRef) => Promise<void> {
  const { toolCalls, turns } = parts.storage;
  const rounds = createCallRounds(parts);
  return async (ref) => {
    const turn = await turns.get(ref);
    if (turn) {
      const left = await toolCalls.withRounds(turn);
      await Promise.all(
        left.map(async (call) => {
          const open = await openAtServer(rounds, parts.config.servers, turn, call);
          if (open) await sendAbandoned(parts, turn, open);
        }),
      );
    }
    await toolCalls.forgetRounds(ref);
  };
}

/** Resolves once the rounds of the call are read: then the call may be finished, which deletes them. */
export async function abandonCall(
  parts: AbandonParts & { config: Config; rounds: CallRounds },
  turn: Turn,
  call: CallRef,
): Promise<void> {
  const open = await openAtServer(parts.rounds, parts.config.servers, turn, call);
  if (open) void sendAbandoned(parts, turn, open);
}

interface CallRef {
  toolCallId: string;
  toolName: string;
}

interface OpenAtServer {
  server: ServerConfig;
  resume: Resume;
}

/** Null if the server does not keep the call open. */
async function openAtServer(
  rounds: CallRounds,
  servers: Config['servers'],
  turn: Turn,
  { toolCallId, toolName }: CallRef,
): Promise<OpenAtServer | null> {
  const server = remoteAgentOf(servers, toolName) ?? servers.get(serverNameIn(toolName));
  const round = server && (await rounds.list(turn, toolCallId)).at(-1);
  return round && isLeftOpen(round) ? { server, resume: round.resume } : null;
}

/** Resolves when it was sent, or took too long. */
export function sendAbandoned(
  { remote, storeOf }: AbandonParts,
  turn: Turn,
  { server, resume }: OpenAtServer,
): Promise<void> {
  const { signal } = new AbortController();
  return sendBestEffort(
    credentialOrNone(storeOf(server), server, turn).then(
      (credential) => credential && remote.cancelCall({ server, credential, signal }, resume),
    ),
  );
}

/**
 * Used when the worker that held the connections of a call has died and the next attempt starts over: the server may
 * still wait for answers on the old connections.
 */
export async function abandonHeldCalls(
  { storeOf, remote }: AbandonParts,
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

export function isLeftOpen({ resume }: Round): boolean {
  return resume.kind === 'held' ? resume.call !== undefined : ['detached', 'task'].includes(resume.kind);
}
