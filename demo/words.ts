/** The words of the identity provider, in the language that the browser prefers. */
import { preferredLanguage } from '@interlude-ai/core/elicitation/language.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { DemoWords } from './words/en.ts';

export type { DemoWords } from './words/en.ts';

const languages: Record<Language, DemoWords> = { en, de };

/** `accepted`: the header `Accept-Language`. */
export function wordsFor(accepted: string | undefined): DemoWords {
  return languages[preferredLanguage(accepted)];
}
