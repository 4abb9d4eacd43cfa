/**
 * What an editor answers a question with. The SDK checks nothing of it, so it is a stranger's: what is no decision of a
 * person leaves the question as it is. Pure.
 */
import type { Decision } from '../../../client/answer-questions.ts';
import { isRecord } from '../../../client/interlude-error.ts';
import type { ElicitationRequest } from '../../../contract/elicitation.ts';
import { coerceContent } from '../../../elicitation/form/coerce-content.ts';
import { fieldsOf, permissionAnswers } from './to-request.ts';

export type ReadReply =
  | { kind: 'decision'; decision: Decision }
  /** The dialog was closed, by a person or by a program: who, only the moment tells. */
  | { kind: 'dismissed' }
  | { kind: 'none' };

export function readElicitation(question: ElicitationRequest, reply: unknown): ReadReply {
  if (!isRecord(reply)) return none;
  switch (reply['action']) {
    case 'accept':
      return question.mode === 'url'
        ? decided({ action: 'accept' })
        : readContent(question, reply['content']);
    case 'decline':
      return decided({ action: 'decline' });
    case 'cancel':
      return { kind: 'dismissed' };
    default:
      return none;
  }
}

export function readPermission(reply: unknown): ReadReply {
  const outcome = isRecord(reply) ? reply['outcome'] : undefined;
  if (!isRecord(outcome)) return none;
  if (outcome['outcome'] === 'cancelled') return { kind: 'dismissed' };
  const { optionId } = outcome;
  const isOurs = typeof optionId === 'string' && Object.hasOwn(permissionAnswers, optionId);
  if (outcome['outcome'] !== 'selected' || !isOurs) return none;
  return decided(permissionAnswers[optionId as keyof typeof permissionAnswers]);
}

/** Whether it fits the form, the service says, as for every surface. */
function readContent(question: Extract<ElicitationRequest, { mode: 'form' }>, given: unknown): ReadReply {
  const content = coerceContent(fieldsOf(question), isRecord(given) ? given : {});
  return decided({ action: 'accept', content });
}

function decided(decision: Decision): ReadReply {
  return { kind: 'decision', decision };
}

const none: ReadReply = { kind: 'none' };
