/**
 * What only the person may answer, signed in. A program that acts for a user may pass on what they filled in and refuse
 * anything; consent that lets others act with their accounts, approvals and secrets come from the person. The same goes for
 * every caller behind which there may be a model, with any token.
 */
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';
import { personalKind } from '../elicitation/personal.ts';
import type { ActingKey } from './principal.ts';

interface AnsweringCaller {
  /** Absent: the user's own token. */
  actor: ActingKey | undefined;
  mayBeModel: boolean;
  /** Where the person answers. */
  page: string;
}

/** Why only the person may answer so, and where; null when the caller may. */
export function reservedForPerson(
  request: ElicitationRequest,
  { action, remember }: ElicitationResponse,
  { actor, mayBeModel, page }: AnsweringCaller,
): string | null {
  if (action !== 'accept' || (!actor && !mayBeModel)) return null;
  if (request.mode === 'url')
    return actor
      ? 'A link is for the person who was asked: let them open it. They sign in there and consent themselves.'
      : null;
  const kind = personalKind(request);
  switch (kind) {
    case 'secret':
      return `This form wants something secret, which no program may send. The person answers it, signed in, on this page: ${page}`;
    case 'approval':
      if (mayBeModel)
        return `An approval is not accepted where a model may give it. The person approves, signed in, on this page: ${page}`;
      if (!actor?.mayApprove)
        return `This API key may not approve for users. The person approves, signed in, on this page: ${page} (or the operator makes a key that may).`;
      if (remember !== undefined)
        return `What a person allows in advance, they allow signed in, on this page: ${page} Approve this call only.`;
      return null;
    case null:
      return null;
    default:
      return kind satisfies never;
  }
}
