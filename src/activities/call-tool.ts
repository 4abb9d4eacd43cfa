/**
 * One attempt at one tool call, at most once per call id.
 *
 * The row of the call says how far it got: `requested` (nothing left this process), `started` (a request may
 * have left), `finished` (the model has its result). A second attempt that finds `started` cannot know whether
 * the tool ran, so it repeats only what is declared repeatable and reports the rest as unknown.
 */
import { setTimeout as sleep } from 'node:timers/promises';
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
import type { Refusal as ToolRefusal } from '../elicitation/wording.ts';
import { callServerTool } from '../mcp/call.ts';
import type { Catalogue } from '../mcp/catalogue.ts';
import type { Storage, ToolCallRow } from '../storage/storage.ts';
import { toEvent, toMessageContent } from '../turn/tool-result.ts';
import type { McpResult, ToolResult } from '../turn/tool-result.ts';
import type { Turn } from '../turn/turn.ts';
import { whileHeartbeating } from './heartbeat.ts';
import { toolEventKey, toolMessageId } from './turns.ts';
import type { ConnectionAsk } from './elicitations.ts';

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

const finished = { kind: 'finished' } as const;
/** How often a call that may be repeated is made before its outcome is left unknown. */
const maxAttempts = 3;

export function createToolActivities({ storage, servers, storeOf, catalogue, logger }: Dependencies) {
  return {
    callTool: (input: ToolCallInput) => whileHeartbeating(() => callTool(input)),

    /** Ends a call that was not made, with the reason in words for the model. */
    async refuseToolCall(input: {
      turn: Turn;
      toolCallId: string;
      server: string;
      refusal: ToolRefusal;
    }): Promise<void> {
      const { turn, toolCallId, refusal } = input;
      const call = await requested(turn, toolCallId);
      const title = servers.get(input.server)?.title ?? input.server;
      const mayHaveRun = refusal === 'failed' && call.state === 'started';
      await finish(
        turn,
        call,
        error(mayHaveRun ? unknownOutcomeForModel(title) : refusalForModel(refusal, title)),
      );
    },
  };

  async function callTool(input: ToolCallInput): Promise<ToolCallOutcome> {
    const { turn, toolCallId } = input;
    const call = await requested(turn, toolCallId);
    if (call.state === 'finished') return finished;
    const server = servers.get(input.server);
    if (!server)
      return finish(
        turn,
        call,
        error(`There is no server "${input.server}" any more. The tool did not run.`),
      );
    if (server.credentialScope === 'user' && turn.user === null) {
      return finish(turn, call, error(refusalForModel('no-user', server.title)));
    }
    if (call.state === 'started' && !(await isRepeatable(turn, input))) {
      return finish(turn, call, error(unknownOutcomeForModel(server.title)));
    }
    try {
      const credential = await resolve(server, turn, input.round);
      if (credential.kind === 'connection-required') return ask(credential, input, turn);
      return input.tool === null
        ? await learnTools(input, call, server, credential)
        : await execute({ ...input, tool: input.tool }, call, server, credential);
    } catch (failure) {
      if (!(failure instanceof CredentialStoreError)) throw failure;
      logger.warn(
        { server: server.name, turnId: turn.turnId, reason: failure.message },
        'credential store cannot answer',
      );
      return finish(
        turn,
        call,
        error(`${failure.message} The tool did not run. Tell the user to try again later.`),
      );
    }
  }

  async function execute(
    input: ToolCallInput & { tool: string },
    call: ToolCallRow,
    server: ServerConfig,
    credential: Credential,
    renewed = false,
  ): Promise<ToolCallOutcome> {
    const { turn, toolCallId } = input;
    const repeatable = await isRepeatable(turn, input);
    if (!(await storage.toolCalls.start(turn, toolCallId)) && !repeatable) {
      return finish(turn, call, error(unknownOutcomeForModel(server.title)));
    }
    const outcome = await callServerTool(server, credential, {
      name: input.tool,
      arguments: call.input as Record<string, unknown>,
      callId: `${turn.turnId}/${toolCallId}`,
      signal: cancellationSignal(),
    });
    switch (outcome.kind) {
      case 'result':
        void catalogue.refresh(turn.tenant, server, credential);
        return finish(turn, call, { kind: 'output', output: outcome.result as McpResult });
      case 'refused': {
        await storage.toolCalls.release(turn, toolCallId);
        const next = await refused(server, turn, credential, outcome);
        if (next.kind === 'connection-required') return ask(next, input, turn);
        // Renewed: once more with that. If it is refused as well, the person decides.
        if (!renewed) return execute(input, call, server, next, true);
        return finish(turn, call, error(refusalForModel('still-refused', server.title)));
      }
      case 'unreachable':
        await storage.toolCalls.release(turn, toolCallId);
        return finish(turn, call, error(`${outcome.message} The tool did not run.`));
      case 'rejected':
      case 'asks':
        return finish(turn, call, error(outcome.message));
      case 'unknown':
        // A dropped line, a restart on either side: what may be repeated is, by the activity's retry.
        if (repeatable && activityInfo().attempt < maxAttempts && !isTurnCancelled()) {
          throw ApplicationFailure.retryable(
            `${server.title} did not answer; the call may be repeated.`,
            'ToolOutcomeUnknown',
          );
        }
        logger.warn(
          { server: server.name, turnId: turn.turnId, toolCallId },
          'outcome of a tool call is unknown',
        );
        return finish(turn, call, error(unknownOutcomeForModel(server.title)));
      default:
        return outcome satisfies never;
    }
  }

  /** The `connect_<server>` tool: the account is there, so its tools can be listed for the next step. */
  async function learnTools(
    input: ToolCallInput,
    call: ToolCallRow,
    server: ServerConfig,
    credential: Credential,
    renewed = false,
  ): Promise<ToolCallOutcome> {
    const { turn } = input;
    const listed = await catalogue.learn(turn.tenant, server, credential, cancellationSignal());
    switch (listed.kind) {
      case 'tools': {
        const names = listed.tools.map((tool) => tool.name).join(', ');
        const text = `${server.title} is connected. These tools are available now: ${names || 'none'}.`;
        return finish(turn, call, { kind: 'output', output: { content: [{ type: 'text', text }] } });
      }
      case 'refused': {
        const next = await refused(server, turn, credential, listed);
        if (next.kind === 'connection-required') return ask(next, input, turn);
        if (!renewed) return learnTools(input, call, server, next, true);
        return finish(turn, call, error(refusalForModel('still-refused', server.title)));
      }
      case 'unreachable':
        return finish(turn, call, error(listed.message));
      default:
        return listed satisfies never;
    }
  }

  function refused(
    server: ServerConfig,
    turn: Turn,
    { version, tokenId }: Credential,
    how: Pick<Refusal, 'status' | 'challenge'>,
  ) {
    const { status, challenge } = how;
    const refusal = { version, status, challenge, ...(tokenId !== undefined && { tokenId }) };
    return storeOf(server).reject(server, connectionKey(server, turn), refusal);
  }

  /** A connection that was just made may take a moment to be visible everywhere. */
  async function resolve(
    server: ServerConfig,
    turn: Turn,
    round: number,
  ): Promise<Credential | ConnectionRequired> {
    const key = connectionKey(server, turn);
    const store = storeOf(server);
    let found = await store.resolve(server, key);
    for (let tries = 0; round > 0 && tries < 3 && found.kind === 'connection-required'; tries++) {
      if (found.reason !== 'missing') break;
      await sleep(500, undefined, { signal: cancellationSignal() });
      found = await store.resolve(server, key);
    }
    return found;
  }

  async function isRepeatable(
    turn: Turn,
    { server, tool }: Pick<ToolCallInput, 'server' | 'tool'>,
  ): Promise<boolean> {
    if (tool === null) return true;
    const known = await storage.toolCatalogue.get(turn.tenant, server);
    const hints = known?.tools.find(({ name }) => name === tool)?.annotations;
    return hints?.readOnlyHint === true || hints?.idempotentHint === true;
  }

  async function requested(turn: Turn, toolCallId: string): Promise<ToolCallRow> {
    const call = await storage.toolCalls.get(turn, toolCallId);
    if (!call) throw new Error(`Tool call ${toolCallId} of turn ${turn.turnId} is not in the database.`);
    return call;
  }

  async function finish(turn: Turn, call: ToolCallRow, result: ToolResult): Promise<typeof finished> {
    await storage.toolCalls.finish(turn, call.toolCallId, {
      message: {
        id: toolMessageId(turn, call.toolCallId),
        role: 'tool',
        content: toMessageContent(call, result),
      },
      event: { key: toolEventKey(call.toolCallId), event: toEvent(call, result) },
    });
    return finished;
  }
}

/** A worker that shuts down cancels its activities too; those go on elsewhere. */
function isTurnCancelled(): boolean {
  return cancellationDetails()?.cancelRequested === true;
}

function ask(required: ConnectionRequired, input: ToolCallInput, turn: Turn): ToolCallOutcome {
  const { reason, seenVersion, scopes } = required;
  // `user` cannot be null here: a service is refused before any credential is looked for.
  const user = turn.user ?? '';
  const { server, tool } = input;
  return {
    kind: 'connection-required',
    user,
    server,
    reason,
    seenVersion,
    ...(tool !== null && { tool }),
    ...(scopes && { scopes }),
  };
}

function error(text: string): ToolResult {
  return { kind: 'error', text };
}
