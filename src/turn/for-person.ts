/** Events of the log as a person reads them, in their language. The log contains codes, or sentences for the model. Pure. */
import type { TurnEvent } from './event.ts';
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

/** The event without its codes, as clients get it. `language`: null if the sentences are for a model. */
export function inWords(event: TurnEvent, language: Language | null): TurnEvent {
  if (event.type !== 'tool-output-error' || event.failure === undefined) return event;
  const { failure, ...rest } = event;
  return language === null ? rest : { ...rest, errorText: languages[language].callFailure(failure) };
}
