/** How a client's user is asked: directly where the client can show the question, else in words through its model. Pure. */
import type { Capabilities } from '../../../elicitation/capabilities.ts';
import { personalKind, personalWords, withPersonalAsLink } from '../../../elicitation/personal.ts';
import type { Question } from './follow-call.ts';

/** As it is put to the client: what only the person accepts is a link to our page, where the client itself cannot answer. */
export function shownQuestion(question: Question) {
  return withPersonalAsLink(question, question.page);
}

export function isShowable(shows: Capabilities): (question: Question) => boolean {
  return (question) => shows[shownQuestion(question).mode];
}

/** Why a model may not accept the question in its user's name, and where they do it themselves; null when it may. */
export function reservedForUser(question: Question): string | null {
  const kind = personalKind(question);
  return kind && personalWords(kind, question.page);
}
