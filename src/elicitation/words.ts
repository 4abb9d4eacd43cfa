/** The texts of the widget and of the hosted pages of questions, one object per language. Hosts of the widget may replace single texts. */
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { Words } from './words/en.ts';

export type { Words } from './words/en.ts';

const languages = { de, en } satisfies Record<string, Words>;
type Language = keyof typeof languages;

/** `tag` as in `lang`; English unless there is a translation. */
export function languageOf(tag: string): Language {
  const [name = ''] = tag.toLowerCase().split('-');
  return Object.hasOwn(languages, name) ? (name as Language) : 'en';
}

export function wordsFor(language: string, own: Partial<Words> = {}): Words {
  // An undefined text is ours.
  const given = Object.fromEntries(Object.entries(own).filter(([, text]) => text !== undefined));
  return { ...languages[languageOf(language)], ...given };
}
