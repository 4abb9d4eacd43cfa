/** What the log says to a person, in their language. It contains codes, and sentences for the model. Pure. */
import type { TurnEvent } from './event.ts';
import type { TurnFailure } from './turn-failure.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { Words } from './words/en.ts';

const languages = { en, de } satisfies Record<string, Words>;
export type Language = keyof typeof languages;

/** `tag` as in `lang` and `Accept-Language`. English unless there is a file for the language. */
export function languageOf(tag: string): Language {
  const [name = ''] = tag.toLowerCase().split('-');
  return Object.hasOwn(languages, name) ? (name as Language) : 'en';
}

/** Why a turn failed, in English. */
export function turnFailureInWords(failure: TurnFailure): string {
  return 'message' in failure ? failure.message : en.turnFailure(failure);
}

/** The event of a failed turn. */
export function failureEvent(failure: TurnFailure): { key: string; event: TurnEvent } {
  const said = { type: 'error', code: failure.code, errorText: turnFailureInWords(failure) } as const;
  return { key: 'error', event: 'message' in failure ? said : { ...said, failure } };
}

/** The event without its codes, as clients get it. `language`: null if the sentences are for a model. */
export function inWords(event: TurnEvent, language: Language | null): TurnEvent {
  if (!('failure' in event) || event.failure === undefined) return event;
  if (event.type === 'error') {
    const { failure, ...rest } = event;
    return language === null ? rest : { ...rest, errorText: languages[language].turnFailure(failure) };
  }
  const { failure, ...rest } = event;
  return language === null ? rest : { ...rest, errorText: languages[language].callFailure(failure) };
}
