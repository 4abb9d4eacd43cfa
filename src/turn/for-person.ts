/** What the log says to a person, in their language. It contains codes, and sentences for the model. Pure. */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import type { TurnEvent } from './event.ts';
import type { TurnFailure } from './turn-failure.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { Notice, Words } from './words/en.ts';

const languages: Record<Language, Words> = { en, de };

/** Why a turn failed, in English. */
export function turnFailureInWords(failure: TurnFailure): string {
  return en.turnFailure(failure);
}

export function failureEvent(failure: TurnFailure): { key: string; event: TurnEvent } {
  const said = { type: 'error', code: failure.code, errorText: turnFailureInWords(failure) } as const;
  return { key: 'error', event: 'message' in failure ? said : { ...said, failure } };
}

/** What a person reads whose client cannot show the question for an account, in English. */
export function missingAccountInWords(notice: Notice): string {
  return en.missingAccount(notice);
}

/** The account question of another reader, for one who cannot show it. `address`: of the page with their connections. */
export function shownElsewhere(
  question: string,
  address: string | undefined,
  language: Language | null,
): string {
  return languages[language ?? 'en'].elsewhere(question, true, address);
}

/** Questions of our own are said in the person's language, others as their servers and tools say them. */
export function questionInWords<Question extends ElicitationEvent>(
  question: Question,
  language: Language | null,
): Question {
  return language === null ? question : { ...question, message: languages[language].question(question) };
}

/** The event without its codes, as clients get it. `language`: null if the sentences are for a model. */
export function inWords(event: TurnEvent, language: Language | null): TurnEvent {
  const words = language === null ? null : languages[language];
  switch (event.type) {
    case 'tool-output-error': {
      const { failure, ...rest } = event;
      return words && failure ? { ...rest, errorText: words.callFailure(failure) } : rest;
    }
    case 'error': {
      const { failure, ...rest } = event;
      return words && failure ? { ...rest, errorText: words.turnFailure(failure) } : rest;
    }
    case 'tool-auth-required': {
      const { account, ...rest } = event;
      const { serverTitle, url } = rest;
      return words && account
        ? { ...rest, message: words.missingAccount({ serverTitle, account, url }) }
        : rest;
    }
    case 'elicitation-request':
      return questionInWords(event, language);
    default:
      return event;
  }
}
