/**
 * Questions that only the person accepts, signed in, wherever a model may be the caller: approvals, because a model that gave
 * one would approve its own call, and forms that want a secret, because no model may see it. Pure.
 */
import { isApproval } from './approval.ts';
import type { ElicitationEvent, ElicitationRequest } from './elicitation.ts';
import { wantsSecret } from './form/secret-fields.ts';

export type Personal = 'approval' | 'secret';

/** Null for a question that a program may answer with what its user has said. */
export function personalKind(question: ElicitationRequest): Personal | null {
  if (isApproval(question.context)) return 'approval';
  return wantsSecret(question) ? 'secret' : null;
}

/** For a caller that would answer in the person's place. `page`: where the person answers. */
export function personalWords(kind: Personal, page: string): string {
  switch (kind) {
    case 'approval':
      return `You cannot approve this for the user. They decide themselves, signed in, on this page: ${page}`;
    case 'secret':
      return `This wants something secret, which must not go through you: never ask for it, and do not accept it. The user answers it themselves, signed in, on this page: ${page}`;
    default:
      return kind satisfies never;
  }
}

/** As a caller that may be a model is asked: a personal question is a link to its page, any other stays as it is. */
export function withPersonalAsLink(question: ElicitationEvent, page: string): ElicitationEvent {
  if (question.mode === 'url' || personalKind(question) === null) return question;
  const { requestedSchema: _, ...rest } = question;
  return { ...rest, mode: 'url', url: page };
}
