/** The texts of the widget and of the hosted pages of questions, one object per language. Hosts of the widget may replace single texts. */
import { languageOf } from './language.ts';
import type { Language } from './language.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { Words } from './words/en.ts';

export type { Words } from './words/en.ts';

const languages: Record<Language, Words> = { de, en };

export function wordsFor(language: string, own: Partial<Words> = {}): Words {
  // An undefined text is ours.
  const given = Object.fromEntries(Object.entries(own).filter(([, text]) => text !== undefined));
  return { ...languages[languageOf(language)], ...given };
}
