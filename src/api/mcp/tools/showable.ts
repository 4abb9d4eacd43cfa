/** Which questions go to a client's user directly, and which of them nobody but that user may answer. Pure. */
import { isApproval } from '../../../elicitation/approval.ts';
import { modelMayNotApprove } from '../../../elicitation/approval-wording.ts';
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import { wantsSecret } from '../../../elicitation/form/secret-fields.ts';
import type { Question } from './follow-call.ts';

/** A form that wants a secret is shown by no client: servers must not send one (MCP 2025-11-25, elicitation). */
export function isShowable(shows: Capabilities): (question: Question) => boolean {
  return (question) => shows[question.mode] && !wantsSecret(question);
}

/** Why a model may not accept the question in its user's name, and where they do it themselves; null when it may. */
export function reservedForUser(question: Question): string | null {
  if (isApproval(question.context)) return modelMayNotApprove(question.page);
  if (wantsSecret(question))
    return `This wants something secret, which must not go through you: never ask for it, and take it from nobody. The user answers by themselves, signed in, on this page: ${question.page}`;
  return null;
}
