/** The texts of the widget, one object per language. Hosts may replace single texts. */
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { Words } from './words/en.ts';

export type { Words } from './words/en.ts';

const languages: Record<string, Words> = { de, en };

/** `language` as in `lang`; English unless there is a translation. */
export function wordsFor(language: string, own: Partial<Words> = {}): Words {
  const [name = 'en'] = language.toLowerCase().split('-');
  // An undefined text is ours.
  const given = Object.fromEntries(Object.entries(own).filter(([, text]) => text !== undefined));
  return { ...(languages[name] ?? en), ...given };
}
