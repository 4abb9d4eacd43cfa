/**
 * Notifies servers that a call which they still keep open is abandoned: one that waits at the server for answers, one whose
 * worker died while it held the connection or followed a remote agent's task, or one whose workflow was ended from outside.
 * Best effort: not retried.
 */
import type { Config, ServerConfig } from '../../config/config.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import { sendBestEffort } from '../../remote/best-effort.ts';
import type { Resume } from '../../remote/input-required.ts';
import { serverNameIn } from '../../remote/model-tools.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { Storage } from '../../storage/storage.ts';
import type { Turn, TurnRef } from '../../turn/turn.ts';
import { remoteAgentOf } from '../call-model/delegate-tool.ts';
import { credentialOrNone } from './resolve-credential.ts';
import { createCallRounds } from './rounds.ts';
import type { CallRounds, Round } from './rounds.ts';

interface AbandonParts {
  remote: Pick<RemoteServers, 'cancelCall'>;
  storeOf(server: ServerConfig): CredentialStore;
}

/** For the outbox: the calls that an ended turn has left at servers. Their rounds are deleted when all are notified. */
export function createAbandonCalls(
  parts: AbandonParts & {
    config: Pick<Config, 'servers'>;
    storage: Pick<Storage, 'toolCalls' | 'turns' | 'elicitations'>;
    keys: KeyRing;
  },
): (turn: TurnRef) => Promise<void> {
  const { toolCalls, turns } = parts.storage;
  const rounds = createCallRounds(parts);
  return async (ref) => {
    const turn = await turns.get(ref);
    if (turn) {
      const left = await toolCalls.withRounds(turn);
      await Promise.all(
        left.map(async (call) => {
          const open = await openAtServer({ ...parts, rounds }, turn, call);
          if (open) await sendAbandoned(parts, turn, open);
        }),
      );
    }
    await toolCalls.forgetRounds(ref);
  };
}

/** Resolves when the rounds of the call are read; the call may be finished then, which deletes them. */
export async function abandonCall(parts: LeftCallParts, turn: Turn, call: CallRef): Promise<void> {
  const open = await openAtServer(parts, turn, call);
  if (open) void sendAbandoned(parts, turn, open);
}

interface LeftCallParts extends AbandonParts {
  rounds: Pick<CallRounds, 'list'>;
  config: Pick<Config, 'servers'>;
}

interface CallRef {
  toolCallId: string;
  toolName: string;
}

interface OpenAtServer {
  server: ServerConfig;
  resume: Resume;
}

/** Null where the server does not keep the call open. */
async function openAtServer(
  { rounds, config }: LeftCallParts,
  turn: Turn,
  { toolCallId, toolName }: CallRef,
): Promise<OpenAtServer | null> {
  const { servers } = config;
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
 * A worker that held the connections of a call has died, and the next attempt begins anew: the server may still wait for
 * answers on the old ones.
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
