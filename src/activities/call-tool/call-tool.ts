/**
 * One attempt at one tool call, at most once per call id.
 *
 * The row of the call says how far it got: `requested` (nothing left this process), `started` (a request may
 * have left), `paused` (the server has asked, and waits for nothing but answers), `finished` (the model has its
 * result). A second attempt that finds `started` cannot know whether the tool ran, so it repeats only what is
 * declared repeatable and reports the rest as unknown. From then on the first one, should it still be alive, is refused
 * whatever it wants to write.
 */
import type { Config, ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import { CredentialStoreError } from '../../credentials/store-error.ts';
import { notAllowedForModel, refusalForModel } from '../../elicitation/wording.ts';
import type { CatalogueTool } from '../../storage/ports/tool-catalogue.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult, ToolCallInput } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { mayCall } from '../call-model/agent-tools.ts';
import { whileHeartbeating } from '../heartbeat.ts';
import { whileNotReplaced, withStopSignal } from '../stop-signal.ts';
import { requestedToolCall } from '../tool-results.ts';
import { attemptAt, finishCall } from './attempt.ts';
import type { Attempt, CallServerParts } from './attempt.ts';
import { endUnlessApproved } from './approval.ts';
import { callServer } from './call-server.ts';
import { askToConnect } from './connection-required.ts';
import { endOfEarlierAttempt } from './earlier-attempt.ts';
import { whenLetGo, whileHolding } from './hold-call.ts';
import { listServerTools } from './list-server-tools.ts';
import { resolveCredential } from './resolve-credential.ts';
import type { ResolvedCredential } from './resolve-credential.ts';
import { mayRetryLater, retryLater } from './retry-later.ts';
import { hasAsked } from './rounds.ts';
import type { Round } from './rounds.ts';

interface Dependencies extends CallServerParts {
  storage: Storage;
  keys: KeyRing;
  agents: Config['agents'];
  servers: Config['servers'];
}

export function createToolActivities(parts: Dependencies) {
  return {
    async callTool(input: ToolCallInput): Promise<AttemptResult> {
      const { storage } = parts;
      const { turn, toolCallId } = input;
      const own = { turn, toolCallId, by: attemptAt(input) };
      const make = async () => {
        await whenLetGo(storage, own);
        return whileHolding(storage, own, () => callTool(parts, input));
      };
      return whileHeartbeating(() =>
        whileNotReplaced(withStopSignal(storage.turns, turn, make, { outlivesHeartbeats: true })),
      );
    },
  };
}

async function callTool(parts: Dependencies, input: ToolCallInput): Promise<AttemptResult> {
  const { storage, rounds, agents } = parts;
  const { turn, toolCallId, tool } = input;
  const by = attemptAt(input);
  const server = parts.servers.get(input.server);
  const mayHaveRounds = input.round > 0 || by.attempt > 1;
  // All that may have to be known, at once: somebody waits for the request that goes out after it.
  const [call, listed, credential, allRounds] = await Promise.all([
    requestedToolCall(storage, turn, toolCallId, by),
    server && tool !== null ? storage.toolCatalogue.get(connectionKey(server, turn)) : null,
    server && !isNobodys(server, turn) ? credentialOrError(parts, input, server) : null,
    mayHaveRounds ? rounds.list(turn, toolCallId) : null,
    storage.elicitations.settleAll(input.outcomes ?? []),
  ]);
  if (call.state === 'finished') return { kind: 'finished' };
  const begun = { input, by, call };
  if (!server)
    return finishCall(parts, begun, `There is no server "${input.server}" any more. The tool did not run.`);
  // It was offered, and the agent's list may have become shorter since. What has begun comes to its end.
  if (call.state === 'requested' && !mayCall(agents.get(turn.agent), server, tool))
    return finishCall(parts, begun, notAllowedForModel(call.toolName));
  if (!credential) return finishCall(parts, begun, refusalForModel('no-user', server.title));
  // One that nothing was sent for has no rounds: a call that has some goes back to `paused`, not to `requested`.
  const kept = call.state === 'requested' ? [] : (allRounds ?? (await rounds.list(turn, toolCallId)));
  // As the model was offered it.
  const known = listed?.tools.find(({ name }) => name === tool);
  const attempt: Attempt = { ...begun, server, listed, known, isRepeatable: isRepeatable(input, known) };
  const ended = await endOfEarlierAttempt(parts, attempt, kept);
  // What a remote agent has begun is gone on with, before it has asked anything, too.
  const begunTask = kept[0] && !hasAsked(kept[0]) ? kept[0] : undefined;
  return ended ?? makeCall(parts, attempt, credential, kept[input.round - 1] ?? begunTask);
}

async function makeCall(
  parts: Dependencies,
  attempt: Attempt,
  credential: ResolvedCredential | CredentialStoreError,
  answered: Round | undefined,
): Promise<AttemptResult> {
  if (credential instanceof CredentialStoreError) return tryLater(parts, attempt, credential);
  if (credential.kind === 'connection-required') return askToConnect(parts, attempt, credential);
  const { tool } = attempt.input;
  try {
    return tool === null
      ? await listServerTools(parts, attempt, credential)
      : ((await endUnlessApproved(parts, { ...attempt, tool })) ??
          (await callServer(parts, { ...attempt, tool }, credential, answered)));
  } catch (error) {
    if (error instanceof CredentialStoreError) return tryLater(parts, attempt, error);
    throw error;
  }
}

/** In a later attempt, where the store says when and there is one left; else the model is told. */
async function tryLater(
  parts: Dependencies,
  attempt: Attempt,
  { message, forOperator: reason, retryAfterMs }: CredentialStoreError,
): Promise<AttemptResult> {
  const { input, server } = attempt;
  const about = { server: server.name, turnId: input.turn.turnId, reason };
  parts.logger.warn(about, 'credential store cannot answer');
  if (retryAfterMs !== undefined && mayRetryLater())
    throw retryLater(message, 'CredentialStoreAway', retryAfterMs);
  const text = `${message} The tool did not run. Tell the user to try again later.`;
  return finishCall(parts, attempt, text);
}

async function credentialOrError(
  { storeOf }: Dependencies,
  input: ToolCallInput,
  server: ServerConfig,
): Promise<ResolvedCredential | CredentialStoreError> {
  try {
    return await resolveCredential(storeOf(server), server, input);
  } catch (error) {
    if (error instanceof CredentialStoreError) return error;
    throw error;
  }
}

/** A user's own account is needed, and the turn has no user. */
function isNobodys({ credentialScope }: ServerConfig, { user }: Turn): boolean {
  return credentialScope === 'user' && user === null;
}

function isRepeatable({ tool }: ToolCallInput, known: CatalogueTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = known?.annotations ?? {};
  return tool === null || readOnlyHint === true || idempotentHint === true;
}
