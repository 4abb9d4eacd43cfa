/**
 * One attempt at one tool call, at most once per call id.
 *
 * The row of the call says how far it got: `requested` (nothing left this process), `started` (a request may
 * have left), `finished` (the model has its result). A second attempt that finds `started` cannot know whether
 * the tool ran, so it repeats only what is declared repeatable and reports the rest as unknown.
 */
import {
  ApplicationFailure,
  activityInfo,
  cancellationDetails,
  cancellationSignal,
} from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Config, ServerConfig } from '../config.ts';
import { connectionKey } from '../credentials/connection-key.ts';
import type { ConnectionRequired, Credential, CredentialStore, Refusal } from '../credentials/store.ts';
import { CredentialStoreError } from '../credentials/store.ts';
import { refusalForModel, unknownOutcomeForModel } from '../elicitation/wording.ts';
import { callServerTool } from '../mcp/call.ts';
import type { Catalogue } from '../mcp/catalogue.ts';
import type { Storage, ToolCallRow } from '../storage/storage.ts';
import type { McpResult } from '../turn/tool-result.ts';
import type { Turn } from '../turn/turn.ts';
import type { ConnectionAsk } from './elicitations.ts';
import { whileHeartbeating } from './heartbeat.ts';
import { resolveCredential } from './resolve-credential.ts';
import { createToolResults } from './tool-results.ts';

export interface ToolCallInput {
  turn: Turn;
  toolCallId: string;
  server: string;
  /** The tool's own name at its server; null for the `connect_<server>` tool. */
  tool: string | null;
  /** How many questions were answered for this call so far. */
  round: number;
}

export type ToolCallOutcome =
  | { kind: 'finished' }
  | ({ kind: 'connection-required'; user: string } & ConnectionAsk);

interface Dependencies {
  storage: Storage;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
  catalogue: Catalogue;
  logger: Logger;
}

/** What every step of one attempt works with. */
interface Attempt {
  input: ToolCallInput;
  call: ToolCallRow;
  server: ServerConfig;
  /** Declared read-only or idempotent by its server. */
  isRepeatable: boolean;
  finish(result: string | McpResult): Promise<ToolCallOutcome>;
}

/** How often a call that may be repeated is made before its outcome is left unknown. */
const maxAttempts = 3;

export function createToolActivities({ storage, servers, storeOf, catalogue, logger }: Dependencies) {
  const results = createToolResults(storage);

  return {
    callTool: (input: ToolCallInput) => whileHeartbeating(() => callTool(input)),
  };

  async function callTool(input: ToolCallInput): Promise<ToolCallOutcome> {
    const { turn } = input;
    const call = await results.requested(turn, input.toolCallId);
    if (call.state === 'finished') return { kind: 'finished' };
    const finish = async (result: string | McpResult): Promise<ToolCallOutcome> => {
      const told =
        typeof result === 'string'
          ? ({ kind: 'error', text: result } as const)
          : ({ kind: 'output', output: result } as const);
      await results.finish(turn, call, told);
      return { kind: 'finished' };
    };
    const server = servers.get(input.server);
    if (!server) return finish(`There is no server "${input.server}" any more. The tool did not run.`);
    const attempt: Attempt = { input, call, server, isRepeatable: await isRepeatable(input), finish };
    if (server.credentialScope === 'user' && turn.user === null)
      return finish(refusalForModel('no-user', server.title));
    if (call.state === 'started' && !attempt.isRepeatable)
      return finish(unknownOutcomeForModel(server.title));
    try {
      const credential = await resolveCredential(storeOf(server), server, input);
      if (credential.kind === 'connection-required') return await ask(credential, attempt);
      return input.tool === null
        ? await learnTools(attempt, credential)
        : await execute(attempt, input.tool, credential);
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      logger.warn(
        { server: server.name, turnId: turn.turnId, reason: error.message },
        'credential store cannot answer',
      );
      return finish(`${error.message} The tool did not run. Tell the user to try again later.`);
    }
  }

  async function execute(
    attempt: Attempt,
    tool: string,
    credential: Credential,
    renewed = false,
  ): Promise<ToolCallOutcome> {
    const { call, server, finish } = attempt;
    const { turn, toolCallId } = attempt.input;
    const isFirst = await storage.toolCalls.start(turn, toolCallId);
    if (!isFirst && !attempt.isRepeatable) return finish(unknownOutcomeForModel(server.title));
    const outcome = await callServerTool(server, credential, {
      name: tool,
      arguments: call.input as Record<string, unknown>,
      callId: `${turn.turnId}/${toolCallId}`,
      signal: cancellationSignal(),
    });
    switch (outcome.kind) {
      case 'result':
        void catalogue.refresh(turn.tenant, server, credential);
        return finish(outcome.result as McpResult);
      case 'refused': {
        await storage.toolCalls.release(turn, toolCallId);
        const next = await reject(attempt, credential, outcome);
        if (next.kind === 'connection-required') return ask(next, attempt);
        // Renewed: once more with that.
        return renewed
          ? finish(refusalForModel('still-refused', server.title))
          : execute(attempt, tool, next, true);
      }
      case 'unreachable':
        await storage.toolCalls.release(turn, toolCallId);
        return finish(`${outcome.message} The tool did not run.`);
      case 'rejected':
      case 'asks':
        return finish(outcome.message);
      case 'unknown':
        // A dropped line, a restart on either side: what may be repeated is, by the activity's retry.
        if (attempt.isRepeatable && activityInfo().attempt < maxAttempts && !isTurnCancelled()) {
          throw ApplicationFailure.retryable(
            `${server.title} did not answer; the call may be repeated.`,
            'ToolOutcomeUnknown',
          );
        }
        logger.warn(
          { server: server.name, turnId: turn.turnId, toolCallId },
          'outcome of a tool call is unknown',
        );
        return finish(unknownOutcomeForModel(server.title));
      default:
        return outcome satisfies never;
    }
  }

  /** The `connect_<server>` tool: the account is there, so its tools can be listed for the next step. */
  async function learnTools(
    attempt: Attempt,
    credential: Credential,
    renewed = false,
  ): Promise<ToolCallOutcome> {
    const { server, finish } = attempt;
    const listed = await catalogue.learn(attempt.input.turn.tenant, server, credential, cancellationSignal());
    switch (listed.kind) {
      case 'tools': {
        const names = listed.tools.map((tool) => tool.name).join(', ');
        const text = `${server.title} is connected. These tools are available now: ${names || 'none'}.`;
        return finish({ content: [{ type: 'text', text }] });
      }
      case 'refused': {
        const next = await reject(attempt, credential, listed);
        if (next.kind === 'connection-required') return ask(next, attempt);
        return renewed
          ? finish(refusalForModel('still-refused', server.title))
          : learnTools(attempt, next, true);
      }
      case 'unreachable':
        return finish(listed.message);
      default:
        return listed satisfies never;
    }
  }

  function reject(
    { server, input }: Attempt,
    credential: Credential,
    how: Pick<Refusal, 'status' | 'challenge'>,
  ) {
    const { version, tokenId } = credential;
    const { status, challenge } = how;
    return storeOf(server).reject(server, connectionKey(server, input.turn), {
      version,
      tokenId,
      status,
      challenge,
    });
  }

  async function isRepeatable({ turn, server, tool }: ToolCallInput): Promise<boolean> {
    if (tool === null) return true;
    const known = await storage.toolCatalogue.get(turn.tenant, server);
    const hints = known?.tools.find(({ name }) => name === tool)?.annotations;
    return hints?.readOnlyHint === true || hints?.idempotentHint === true;
  }
}

/** Only a person can connect an account, also one that the whole tenant shares. */
function ask(
  required: ConnectionRequired,
  { input, server, finish }: Attempt,
): ToolCallOutcome | Promise<ToolCallOutcome> {
  const { user } = input.turn;
  if (user === null) return finish(refusalForModel('no-user', server.title));
  const { reason, seenVersion, scopes } = required;
  const tool = input.tool === null ? {} : { tool: input.tool };
  return {
    kind: 'connection-required',
    user,
    server: server.name,
    reason,
    seenVersion,
    ...tool,
    ...(scopes && { scopes }),
  };
}

/** A worker that shuts down cancels its activities too; those go on elsewhere. */
function isTurnCancelled(): boolean {
  return cancellationDetails()?.cancelRequested === true;
}
