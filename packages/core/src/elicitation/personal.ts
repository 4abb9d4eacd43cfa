/**
 * Questions that only the signed-in person may answer if the caller may be a model: approvals, because a model would approve
 * its own call, and forms that ask for a secret, because no model may see it. Pure.
 */
import { isApproval } from './approval.ts';
import type { ElicitationEvent, ElicitationRequest } from './elicitation.ts';
import { wantsSecret } from './form/secret-fields.ts';

type Personal = 'approval' | 'secret';

/** Null if a program may answer for its user. */
export function personalKind(question: ElicitationRequest): Personal | null {
  if (isApproval(question.context)) return 'approval';
  // The front end answers, whatever its tool is called.
  if (question.context.trigger === 'frontend_tool') return null;
  return wantsSecret(question) ? 'secret' : null;
}

/** For a caller that tries to answer for the person. `page`: where the person answers. */
export function personalWords(kind: Personal, page: string): string {
  const words: Record<Personal, string> = {
    approval: `You cannot approve this for the user. They decide themselves, signed in, on this page: ${page}`,
    secret: `This wants something secret, which must not go through you: never ask for it, and do not accept it. The user answers it themselves, signed in, on this page: ${page}`,
  };
  return words[kind];
}

/** For a caller that may be a model: replaces a personal question by a link to its page. */
export function withPersonalAsLink(question: ElicitationEvent, page: string): ElicitationEvent {
  if (question.mode === 'url' || personalKind(question) === null) return question;
  const { requestedSchema: _, ...rest } = question;
  return { ...rest, mode: 'url', url: page };
}
