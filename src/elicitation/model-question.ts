/** What a model reads of its own question to the user. */
import type { Outcome } from './elicitation.ts';

/** Of a question of the model's own. `question`: as text, for whoever has to ask it in words instead. */
export function modelQuestionForModel(
  result: Exclude<Outcome, 'accept'> | 'unsupported' | 'too-many-open' | 'no-user' | 'limit-reached',
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
    case 'no-user':
      return `The caller is a service, and no person is there to be asked. Go on without it, or say in your answer what you would have to know:\n${question}`;
    case 'limit-reached':
      return `You have asked the user as many forms as are allowed in one turn, so nobody was asked. Go on with what you know, or ask in your answer, in words:\n${question}`;
    default:
      return result satisfies never;
  }
}
