/** The server of a call wants another credential than it was given: there is one, or a person has to connect the account. */
import { connectionKey } from '../../credentials/connection-key.ts';
import type { ConnectionRequired, Credential, Refusal } from '../../credentials/store.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import { sharedAccountForModel, sharedAccountMessage } from '../../elicitation/shared-account.ts';
import { refusalForModel } from '../../elicitation/wording.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import { accountNotice } from '../tool-results.ts';
import { finishCall } from './attempt.ts';
import type { Attempt, CallParts } from './attempt.ts';

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
export async function askToConnect(
  parts: CallParts,
  attempt: Attempt,
  { reason, seenVersion, scopes }: ConnectionRequired,
): Promise<AttemptResult> {
  const { input, server } = attempt;
  if (server.credentialScope === 'project') return tellOfShared(parts, attempt, reason);
  const { user } = input.turn;
  if (user === null) return finishCall(parts, attempt, refusalForModel('no-user', server.title));
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
export function stillRefused(parts: CallParts, attempt: Attempt): Promise<AttemptResult> {
  const { server } = attempt;
  if (server.credentialScope === 'project') return tellOfShared(parts, attempt, 'rejected');
  return finishCall(parts, attempt, refusalForModel('still-refused', server.title));
}

function tellOfShared(parts: CallParts, attempt: Attempt, reason: ConnectionReason): Promise<AttemptResult> {
  const { call, server } = attempt;
  parts.logger.warn({ server: server.name, reason }, 'a shared account is needed that cannot be used');
  const account = { serverTitle: server.title, reason, contact: server.contact };
  const notice = accountNotice(call, server, sharedAccountMessage(account));
  return finishCall(parts, attempt, sharedAccountForModel(account), { notice });
}
