/** The server of a call wants another credential than it was given: there is one, or a person has to connect the account. */
import { connectionKey } from '../../credentials/connection-key.ts';
import type { ConnectionRequired, Credential, Unrelated } from '../../credentials/store.ts';
import { connectionsAddress } from '../../elicitation/account-pages.ts';
import { canPresent } from '../../elicitation/capabilities.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import { sharedAccountForModel, sharedAccountMessage } from '../../elicitation/shared-account.ts';
import { connectionMessage, elsewhere, refusalForModel } from '../../elicitation/wording.ts';
import type { Refused } from '../../remote/tool-call.ts';
import type { TimedQuestion } from '../../storage/ports/elicitations.ts';
import type { NewEvent } from '../../storage/ports/turn-log.ts';
import { aboutTurn } from '../../telemetry/events.ts';
import type { AfterRefusal } from '../../telemetry/metrics/instruments.ts';
import type { AttemptResult } from '../../turn/tool-call.ts';
import { accountQuestion } from '../questions/account-question.ts';
import { asksOf, openQuestions } from '../questions/questions.ts';
import { accountNotice } from '../tool-results.ts';
import { failCall } from './attempt.ts';
import type { Attempt, AttemptEnd, CallParts } from './attempt.ts';

/** A server that refused two accounts that were connected for one call would refuse a third. */
const maxConnects = 2;

/** The server wants another credential: there is one, or a person has to act. */
export function rejectCredential(
  { storeOf }: Pick<CallParts, 'storeOf'>,
  { server, input }: Attempt,
  { version, tokenId }: Credential,
  { status, challenge, otherwise }: Refused,
): Promise<Credential | ConnectionRequired | Unrelated> {
  const refusal = {
    version,
    tokenId,
    status,
    challenge,
    isDoubtful: otherwise !== undefined,
  };
  return storeOf(server).reject(server, connectionKey(server, input.turn), refusal);
}

/** `isRenewed`: what was refused had just replaced a refused one. */
export function afterRefusal(
  renewed: Credential | ConnectionRequired,
  { isRenewed }: { isRenewed: boolean },
): AfterRefusal {
  if (renewed.kind === 'connection-required') return 'connection_required';
  return isRenewed ? 'refused_again' : 'renewed';
}

/** Only a person can connect an account. An account that the whole tenant shares is not asked for: operators connect it. */
export async function askForAccount(
  parts: CallParts,
  attempt: Attempt,
  required: ConnectionRequired,
): Promise<AttemptEnd> {
  const { input, server, connects } = attempt;
  const { turn, tool } = input;
  const { title } = server;
  if (server.credentialScope === 'project') return finishWithoutShared(parts, attempt, required.reason);
  if (turn.user === null) return failCall(parts, attempt, 'not_asked', refusalForModel('no-user', title));
  if (connects >= maxConnects)
    return failCall(parts, attempt, 'refused', refusalForModel('still-refused', title));
  const address = connectionsAddress(parts.config.http.publicUrl);
  const refusal = await parts.storage.elicitations.refusalOf(turn, server.name);
  if (refusal !== null) return failCall(parts, attempt, refusal, refusalForModel(refusal, title, address));
  if (!canPresent('url', turn.capabilities))
    return failCall(parts, attempt, 'not_asked', refusalForModel('unsupported', title, address), {
      notice: notAskedNotice(parts, attempt, address),
    });
  const opened = await openQuestions(parts, input, [
    accountQuestion(parts, input, { server, tool }, required),
  ]);
  switch (opened.kind) {
    case 'opened': {
      const isRefused = opened.questions.some(
        ({ question }) => question.status !== 'pending' && question.status !== 'accept',
      );
      return asksOf(opened.questions, input.approval) ?? { kind: isRefused ? 'answered' : 'connected' };
    }
    case 'already-connected':
      return { kind: 'connected' };
    case 'over':
      return { kind: 'finished' };
    default:
      return failCall(parts, attempt, 'not_asked', refusalForModel(opened.kind, title));
  }
}

/** How many accounts were connected for a call with these questions. */
export function connectsOf(questions: TimedQuestion[]): number {
  return questions.filter(({ question }) => question.server !== null && question.status === 'accept').length;
}

/** The server refuses an account that is as new as can be. */
export function stillRefused(parts: CallParts, attempt: Attempt): Promise<AttemptResult> {
  const { server } = attempt;
  if (server.credentialScope === 'project') return finishWithoutShared(parts, attempt, 'rejected');
  return failCall(parts, attempt, 'refused', refusalForModel('still-refused', server.title));
}

function finishWithoutShared(
  parts: CallParts,
  attempt: Attempt,
  reason: ConnectionReason,
): Promise<AttemptResult> {
  const { input, call, server } = attempt;
  parts.logger.warn(
    { ...aboutTurn(input.turn), server: server.name, reason },
    'a shared account is needed that cannot be used',
  );
  const account = { serverTitle: server.title, reason, contact: server.contact };
  const notice = accountNotice(call, server, sharedAccountMessage(account));
  return failCall(parts, attempt, 'not_asked', sharedAccountForModel(account), { notice });
}

/** For the person, whose client cannot show the question: they can connect the account elsewhere. */
function notAskedNotice(
  { storeOf }: Pick<CallParts, 'storeOf'>,
  { input, call, server, known }: Attempt,
  address: string,
): NewEvent {
  const tool = known && input.tool !== null ? input.tool : undefined;
  const message = connectionMessage(server.title, 'missing', tool, storeOf(server).connectedBy);
  return accountNotice(call, server, elsewhere(message, false, address), address);
}
