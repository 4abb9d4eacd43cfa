/** What every part of one attempt at a tool call works with, and how a missing account ends it. */
import { activityInfo } from '@temporalio/activity';
import type { Logger } from 'pino';
import type { Catalogue } from '../../remote/catalogue.ts';
import type { Continuation } from '../../remote/tool-call.ts';
import type { RemoteServers } from '../../remote/remote-servers.ts';
import type { ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import type { ConnectionRequired, Credential, CredentialStore, Refusal } from '../../credentials/store.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import { sharedAccountForModel, sharedAccountMessage } from '../../elicitation/shared-account.ts';
import { refusalForModel } from '../../elicitation/wording.ts';
import type { CallAttempt, ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { CatalogueTool } from '../../storage/ports/tool-catalogue.ts';
import type { Storage } from '../../storage/storage.ts';
import type { AttemptResult, ToolCallInput } from '../../turn/tool-call.ts';
import type { McpResult } from '../../turn/tool-result.ts';
import type { HeldPlaces } from './held-call-limit.ts';
import type { CallRounds, Round } from './rounds.ts';

export interface Attempt {
  input: ToolCallInput;
  /** What an older attempt writes is refused. */
  by: CallAttempt;
  call: ToolCallRow;
  server: ServerConfig;
  /** As its server listed it. */
  known: CatalogueTool | undefined;
  /** Declared read-only or idempotent by its server. */
  isRepeatable: boolean;
  logger: Logger;
  /** `remark` as in a tool's result. `notice`: for the person, beside what the model is told. */
  finish(result: string | McpResult, remark?: string, notice?: string): Promise<AttemptResult>;
}

/** At a tool that its server has listed, and not at the `connect_<server>` tool. */
export type ServerAttempt = Attempt & { tool: string };

/** One request of an attempt, and where it goes on from. */
export interface ToolRequest {
  credential: Credential;
  continuation: Continuation | undefined;
  /** The latest round that had its answers when the attempt began. */
  answered: Round | undefined;
  /** With a credential that has just replaced a refused one. */
  isRenewed: boolean;
  /** The call was begun anew, because the server did not know its own state any more. */
  isRestarted: boolean;
}

export interface CallParts {
  storeOf(server: ServerConfig): CredentialStore;
  catalogue: Catalogue;
  remote: RemoteServers;
}

export interface CallServerParts extends CallParts {
  storage: Pick<Storage, 'toolCalls' | 'turnLog' | 'elicitations'>;
  rounds: CallRounds;
  heldPlaces: HeldPlaces;
  logger: Logger;
}

/** Each connect and each round of answers lets the activity be executed once more. */
export function attemptAt({ connects, round }: ToolCallInput): CallAttempt {
  return { execution: connects + round, attempt: activityInfo().attempt };
}

/** The server wants another credential: there is one, or somebody has to be asked. */
export function rejectCredential(
  { storeOf }: Pick<CallParts, 'storeOf'>,
  { server, input }: Attempt,
  { version, tokenId }: Credential,
  { status, challenge }: Pick<Refusal, 'status' | 'challenge'>,
): Promise<Credential | ConnectionRequired> {
  const refusal = { version, tokenId, status, challenge };
  return storeOf(server).reject(server, connectionKey(server, input.turn), refusal);
}

/** Only a person can connect an account; of one that the whole tenant shares, nobody who happens to call a tool is asked. */
export function askToConnect(
  { reason, seenVersion, scopes }: ConnectionRequired,
  attempt: Attempt,
): AttemptResult | Promise<AttemptResult> {
  const { input, server, finish } = attempt;
  if (server.credentialScope === 'project') return tellOfShared(attempt, reason);
  const { user } = input.turn;
  if (user === null) return finish(refusalForModel('no-user', server.title));
  const tool = input.tool === null ? {} : { tool: input.tool };
  return {
    kind: 'connection-required',
    user,
    ask: {
      kind: 'connection',
      server: server.name,
      toolCallId: input.toolCallId,
      reason,
      seenVersion,
      ...tool,
      ...(scopes && { scopes }),
    },
  };
}

/** The server refuses an account that is as new as can be. */
export function stillRefused(attempt: Attempt): Promise<AttemptResult> {
  const { server, finish } = attempt;
  if (server.credentialScope === 'project') return tellOfShared(attempt, 'rejected');
  return finish(refusalForModel('still-refused', server.title));
}

function tellOfShared({ server, finish, logger }: Attempt, reason: ConnectionReason): Promise<AttemptResult> {
  logger.warn({ server: server.name, reason }, 'a shared account is needed that cannot be used');
  const account = { serverTitle: server.title, reason, contact: server.contact };
  return finish(sharedAccountForModel(account), undefined, sharedAccountMessage(account));
}
