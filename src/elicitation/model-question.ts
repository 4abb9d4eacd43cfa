/** What a model reads of its own question to the user, and of questions that nobody could be asked. */
import type { Outcome } from './elicitation.ts';

/** Of a question of the model's own. `question`: as text, for whoever has to ask it in words instead. */
export function modelQuestionForModel(
  result:
    | Exclude<Outcome, 'accept'>
    | 'unsupported'
    | 'too-many-open'
    | 'too-many-in-turn'
    | 'no-user'
    | 'limit-reached',
  question: string,
): string {
  switch (result) {
    case 'decline':
      return 'The user was shown the form and chose not to answer. Respect that: go on without it, and do not ask the same again.';
    case 'cancel':
      return 'The user closed the form without answering. Offer to ask again later, or go on without it.';
    case 'expired':
      return 'The user was shown the form, but nobody answered before the time was up. Tell the user that it timed out and that they can ask again.';
    case 'unsupported':
      return `The client the user has cannot show a form, so nobody was asked. Put the question to the user in your answer, in words, and let them reply in their next message:\n${question}`;
    case 'too-many-open':
      return 'The user already has too many open questions, so nobody was asked. Ask the user to answer those first.';
    case 'too-many-in-turn':
      return 'As many questions are open in this turn as may be, so nobody was asked. Once those are answered, you can ask again.';
    case 'no-user':
      return `The caller is a service, and no person is there to be asked. Go on without it, or say in your answer what you would have to know:\n${question}`;
    case 'limit-reached':
      return `You have asked the user as many forms as are allowed in one turn, so nobody was asked. Go on with what you know, or ask in your answer, in words:\n${question}`;
    default:
      return result satisfies never;
  }
}

/** Beside the result of a tool whose questions nobody could be asked. Null where there was none. */
export function unaskedForModel(questions: string[], hasUser: boolean): string | null {
  if (questions.length === 0) return null;
  const why = hasUser
    ? 'The client the user has cannot show what the tool asks, so nobody was asked. Tell the user what it wanted to know, and that it can ask them from a client that shows questions:'
    : 'The caller is a service, and no person is there to be asked. Say in your answer what the tool wanted to know; it can ask when it is called on behalf of a signed-in user:';
  return [why, ...questions].join('\n');
}

/** Beside the words of a server that asked in a turn of a service: those speak of a user's client. */
export const nobodyToAskForModel =
  'The caller is a service, and no person is there to be asked: it works when called on behalf of a signed-in user.';
