/**
 * What a program that acts for a user may not answer for them. It may hand on what they filled in, and say no to
 * anything; consent of the person, which lets others act with their accounts, comes from the person.
 */
import { isApproval } from '../elicitation/approval.ts';
import type { ElicitationRequest, ElicitationResponse } from '../elicitation/elicitation.ts';
import type { ActingKey } from './principal.ts';

/** Why only the person may answer so, and what to do; null when the program may. */
export function reservedForPerson(
  { mode, context }: ElicitationRequest,
  { action, remember }: ElicitationResponse,
  { mayApprove }: ActingKey,
): string | null {
  if (action !== 'accept') return null;
  if (mode === 'url')
    return 'A link is for the person who was asked: let them open it. They sign in there and consent themselves.';
  if (!isApproval(context)) return null;
  if (!mayApprove)
    return 'This API key may not approve for users. The person approves signed in, or the operator makes a key that may.';
  if (remember !== undefined)
    return 'What a person allows in advance, they allow signed in. Approve this call only.';
  return null;
}
