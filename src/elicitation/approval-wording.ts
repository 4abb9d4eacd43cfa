/** What people and models are told about tool calls that somebody has to approve. */
import type { Outcome } from './elicitation.ts';
import { shownLimit } from './approval.ts';
import { nameInWords } from './wording.ts';

/** Above a call that somebody has to approve. */
export function approvalMessage(agent: string, serverTitle: string, tool: string): string {
  return `${agent} wants to ${nameInWords(tool)} in ${serverTitle}. Approve this?`;
}

/** Above a call of a tool of the agent's own. */
export function toolApprovalMessage(agent: string, tool: string): string {
  return `${agent} wants to ${nameInWords(tool)}. Approve this?`;
}

/** Why nobody approved a call. */
export type ApprovalRefusal =
  | Exclude<Outcome, 'accept'>
  | 'unsupported'
  | 'no-user'
  | 'too-many-open'
  | 'too-many-in-turn';

/** `serverTitle`: null for a tool of the agent's own. `reason`: the user's, if they gave one. */
export function approvalRefusedForModel(
  refusal: ApprovalRefusal,
  toolName: string,
  serverTitle: string | null,
  reason?: string,
): string {
  const call = `this call of ${toolName}`;
  const notRun = untouched(serverTitle);
  switch (refusal) {
    case 'decline': {
      const why = reason === undefined ? '' : ` Their reason: ${JSON.stringify(reason)}`;
      return `The user was asked to approve ${call} and refused.${why} ${notRun} Respect that: do not make the same call again unless the user asks for it.`;
    }
    case 'cancel':
      return `The user was asked to approve ${call} and dismissed the question without deciding. ${notRun} Offer to try again later.`;
    case 'expired':
      return `The user was asked to approve ${call}, but nobody answered before the question expired. ${notRun} Tell the user that it timed out and that they can ask again.`;
    case 'unsupported':
      return `This needs the user's approval, and the client they use cannot show the request, so nobody was asked. ${notRun} Tell the user what you wanted to do, and to ask again from a client that can show questions.`;
    case 'no-user':
      return `This needs a person's approval, but the caller is a service. ${notRun} It works when called on behalf of a signed-in user.`;
    case 'too-many-open':
      return `The user already has too many open questions, so nobody was asked to approve ${call}. ${notRun} Ask the user to answer those first.`;
    case 'too-many-in-turn':
      return `As many questions are open in this turn as may be, so nobody was asked to approve ${call}. ${notRun} Once those are answered, it can be called again.`;
    default:
      return refusal satisfies never;
  }
}

/** Nobody can approve what they are not shown in full. */
export function tooLongToApproveForModel(toolName: string, serverTitle: string | null): string {
  return `This call of ${toolName} needs the user's approval, and its arguments are too long to be shown to them (more than ${shownLimit} characters), so nobody was asked. ${untouched(serverTitle)} Make the call with less, or in parts.`;
}

/** A call was approved, and what is about to be sent is not what the user was shown. */
export function notAsApprovedForModel(serverTitle: string | null): string {
  const was = serverTitle === null ? 'run' : 'be sent';
  return `The user approved this call, but what was about to ${was} is not what they approved, so it was stopped. ${untouched(serverTitle)} Tell the user, and do not repeat the call by yourself.`;
}

function untouched(serverTitle: string | null): string {
  return serverTitle === null ? 'The tool did not run.' : `Nothing was sent to ${serverTitle}.`;
}
