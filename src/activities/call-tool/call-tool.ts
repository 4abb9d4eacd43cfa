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
import { CredentialStoreError } from '../../credentials/store-error.ts';
import type { ConnectionRequired, Credential } from '../../credentials/store.ts';
import { notAllowedForModel, refusalForModel, unknownOutcomeForModel } from '../../elicitation/wording.ts';
import type { CatalogueTool } from '../../storage/ports/tool-catalogue.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult, ToolCallInput } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { mayUse } from '../call-model/agent-tools.ts';
import { toCallPaused } from './rounds.ts';
import type { Round } from './rounds.ts';
import { whileHeartbeating } from '../heartbeat.ts';
import { mayRetryLater, retryLater } from './retry-later.ts';
import { listServerTools } from './list-server-tools.ts';
import { abandonHeldCalls } from './abandon-held-calls.ts';
import { callServer } from './call-server.ts';
import { resolveCredential } from './resolve-credential.ts';
import { askToConnect, attemptAt } from './attempt.ts';
import type { Attempt, CallServerParts } from './attempt.ts';
import { accountNotice, createToolResults } from '../tool-results.ts';
import { stopSignal, whileWanted } from '../stop-signal.ts';

interface Dependencies extends CallServerParts {
  storage: Storage;
  agents: Config['agents'];
  servers: Config['servers'];
}

export function createToolActivities(dependencies: Dependencies) {
  const { storage, rounds, agents, servers, storeOf, logger } = dependencies;
  const results = createToolResults(storage);

  return {
    callTool: (input: ToolCallInput) =>
      whileHeartbeating(() => whileWanted(storage.turns, input.turn, () => callTool(input))),
  };

  async function callTool(input: ToolCallInput): Promise<AttemptResult> {
    const { turn, toolCallId, tool } = input;
    const by = attemptAt(input);
    const server = servers.get(input.server);
    const mayHaveRounds = input.round > 0 || by.attempt > 1;
    // All that may have to be known, at once: somebody waits for the request that goes out after it.
    const [call, known, credential, listed] = await Promise.all([
      results.requested(turn, toolCallId, by),
      server && knownTool(input, server),
      server && !isNobodys(server, turn) ? credentialOrTrouble(server, input) : null,
      mayHaveRounds ? rounds.list(turn, toolCallId) : null,
      storage.elicitations.settleAll(input.outcomes ?? []),
    ]);
    if (call.state === 'finished') return { kind: 'finished' };
    const finish = finishOf({ input, by, call }, server);
    if (!server) return finish(`There is no server "${input.server}" any more. The tool did not run.`);
    // It was offered, and the agent's list may have become shorter since. What has begun comes to its end.
    if (call.state === 'requested' && !mayUse(agents.get(turn.agent), server.name, tool))
      return finish(notAllowedForModel(call.toolName));
    if (!credential) return finish(refusalForModel('no-user', server.title));
    // One that nothing was sent for has no rounds: a call that has some goes back to `paused`, not to `requested`.
    const kept = call.state === 'requested' ? [] : (listed ?? (await rounds.list(turn, toolCallId)));
    const repeatable = isRepeatable(input, known);
    const attempt = { input, by, call, server, known, isRepeatable: repeatable, logger, finish };
    return (await endOfEarlierAttempt(attempt, kept)) ?? goOn(attempt, credential, kept[input.round - 1]);
  }

  /** What an earlier attempt has come to, if that is how this one ends. */
  async function endOfEarlierAttempt(attempt: Attempt, kept: Round[]): Promise<AttemptResult | null> {
    const { input, call, server, isRepeatable: canRepeat, finish } = attempt;
    const last = kept.at(-1);
    // The earlier attempt was asked this, and its worker died before it said so.
    const wasAsked = last !== undefined && last.resume.kind !== 'held' && kept.length > input.round;
    if (call.state === 'paused' && wasAsked) return toCallPaused(last, kept.length);
    if (call.state !== 'started') return null;
    await abandonHeldCalls(dependencies, { server, turn: input.turn, signal: stopSignal() }, kept);
    const canResume = kept[input.round - 1]?.resume.kind === 'detached';
    return canRepeat || canResume ? null : finish(unknownOutcomeForModel(server.title));
  }

  async function goOn(
    attempt: Attempt,
    credential: Credential | ConnectionRequired | CredentialStoreError,
    answered: Round | undefined,
  ): Promise<AttemptResult> {
    if (credential instanceof CredentialStoreError) return tryLater(credential, attempt);
    if (credential.kind === 'connection-required') return askToConnect(credential, attempt);
    const { tool } = attempt.input;
    try {
      return tool === null
        ? await listServerTools(dependencies, attempt, credential)
        : await callServer(dependencies, { ...attempt, tool }, credential, answered);
    } catch (error) {
      if (error instanceof CredentialStoreError) return tryLater(error, attempt);
      throw error;
    }
  }

  /** In a later attempt, where the store says when and there is one left; else the model is told. */
  async function tryLater(
    { message, forOperator: reason, retryAfterMs }: CredentialStoreError,
    { input, server, finish }: Attempt,
  ): Promise<AttemptResult> {
    logger.warn({ server: server.name, turnId: input.turn.turnId, reason }, 'credential store cannot answer');
    if (retryAfterMs !== undefined && mayRetryLater())
      throw retryLater(message, 'CredentialStoreAway', retryAfterMs);
    return finish(`${message} The tool did not run. Tell the user to try again later.`);
  }

  function finishOf(
    { input, by, call }: Pick<Attempt, 'input' | 'by' | 'call'>,
    server: ServerConfig | undefined,
  ): Attempt['finish'] {
    return async (result, remark, message) => {
      const told =
        typeof result === 'string'
          ? ({ kind: 'error', text: result } as const)
          : ({ kind: 'output', output: result } as const);
      const notice = server && message !== undefined ? accountNotice(call, server, message) : undefined;
      await results.finish(input.turn, call, { ...told, remark }, { by, notice });
      return { kind: 'finished' };
    };
  }

  async function credentialOrTrouble(server: ServerConfig, input: ToolCallInput) {
    try {
      return await resolveCredential(storeOf(server), server, input);
    } catch (error) {
      if (error instanceof CredentialStoreError) return error;
      throw error;
    }
  }

  /** As the model was offered it. */
  async function knownTool(
    { turn, tool }: ToolCallInput,
    server: ServerConfig,
  ): Promise<CatalogueTool | undefined> {
    const known = tool === null ? null : await storage.toolCatalogue.get(connectionKey(server, turn));
    return known?.tools.find(({ name }) => name === tool);
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
