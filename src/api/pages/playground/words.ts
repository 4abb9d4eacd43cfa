/** The texts in the language of the page, which the service has chosen from those that the browser prefers. */
import { languageOf } from '@interlude-ai/core/elicitation/language.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { PlaygroundWords } from './words/en.ts';

const languages: Record<Language, PlaygroundWords> = { en, de };

export const words = languages[languageOf(document.documentElement.lang)];
