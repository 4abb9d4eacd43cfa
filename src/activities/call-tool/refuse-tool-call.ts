/** Ends a tool call that was not made: with the reason for the model, and a notice for the person where they can help. */
import type { Config, ServerConfig } from '../../config/config.ts';
import { connectionKey } from '../../credentials/connection-key.ts';
import { openAnswer } from '../../credentials/sealing/sealed-answer.ts';
import type { KeyRing } from '../../credentials/sealing/key-ring.ts';
import type { CredentialStore } from '../../credentials/store.ts';
import { approvalRefusedForModel } from '../../elicitation/approval-wording.ts';
import { connectionsAddress } from '../../elicitation/account-pages.ts';
import {
  connectionMessage,
  elsewhere,
  refusalForModel,
  unknownOutcomeForModel,
} from '../../elicitation/wording.ts';
import type { Refusal } from '../../elicitation/wording.ts';
import { modelNameOf } from '../../remote/model-tools.ts';
import type { ApprovalDetails } from '../../elicitation/approval.ts';
import type { Settlement } from '../../elicitation/elicitation.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import type { Storage } from '../../storage/storage.ts';
import type { ToolCallRow } from '../../storage/ports/tool-calls.ts';
import type { ApprovalRefused } from '../../turn/tool-call.ts';
import type { Turn } from '../../turn/turn.ts';
import { accountNotice, finishToolCall, requestedToolCall } from '../tool-results.ts';

interface Dependencies {
  storage: Pick<Storage, 'toolCalls' | 'toolCatalogue' | 'elicitations'>;
  keys: KeyRing;
  servers: Config['servers'];
  storeOf(server: ServerConfig): CredentialStore;
  config: Pick<Config, 'http'>;
}

export interface RefusedToolCall {
  turn: Turn;
  toolCallId: string;
  /** Null for a tool of the agent's own. */
  server: string | null;
  refusal: Refusal | ApprovalRefused;
  /** Of questions, told first: one of them may be why the call is not made. */
  outcomes: Settlement[];
}

export function createRefuseToolCall(parts: Dependencies) {
  return { refuseToolCall: (refused: RefusedToolCall) => refuseToolCall(parts, refused) };
}

async function refuseToolCall(
  parts: Dependencies,
  { turn, toolCallId, server: name, refusal, outcomes }: RefusedToolCall,
): Promise<void> {
  const { storage, servers, config } = parts;
  await storage.elicitations.settleAll(outcomes);
  const call = await requestedToolCall(storage, turn, toolCallId);
  const server = name === null ? undefined : servers.get(name);
  const title = server?.title ?? name;
  if (typeof refusal !== 'string') {
    const reason = await reasonOf(parts, refusal);
    const told = approvalRefusedForModel(refusal.refusal, call.toolName, title, reason);
    return finishToolCall(storage, turn, call, { kind: 'error', text: told });
  }
  const mayHaveRun = refusal === 'failed' && call.state === 'started';
  const text = mayHaveRun
    ? unknownOutcomeForModel(title ?? call.toolName)
    : refusalForModel(refusal, title ?? call.toolName, connectionsAddress(config.http.publicUrl));
  const notice =
    server && refusal === 'unsupported' ? await accountMissing(parts, turn, call, server) : undefined;
  await finishToolCall(storage, turn, call, { kind: 'error', text }, { notice });
}

/** Why the user refused, if they said it. */
async function reasonOf(
  { storage, keys }: Dependencies,
  { elicitationId, responseId }: ApprovalRefused,
): Promise<string | undefined> {
  const answer = responseId === null ? null : await storage.elicitations.answer(elicitationId, responseId);
  if (answer?.sealedContent == null) return undefined;
  const { reason } = JSON.parse(openAnswer(keys, elicitationId, answer.sealedContent)) as ApprovalDetails;
  return reason;
}

/** The person is there, only their client cannot show the question: they can connect the account elsewhere. */
async function accountMissing(
  { storage, storeOf, config }: Dependencies,
  turn: Turn,
  call: ToolCallRow,
  server: ServerConfig,
): Promise<NewEvent> {
  const address = connectionsAddress(config.http.publicUrl);
  const known = await storage.toolCatalogue.get(connectionKey(server, turn));
  const tool = known?.tools.find(({ name }) => modelNameOf(server.name, name) === call.toolName)?.name;
  const message = elsewhere(
    connectionMessage(server.title, 'missing', tool, storeOf(server).connectedBy),
    false,
    address,
  );
  return accountNotice(call, server, message, address);
}
