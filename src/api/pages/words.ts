/** The language of a page: the one that the browser asks for. */
import type { FastifyRequest } from 'fastify';
import { preferredLanguage } from '@interlude-ai/core/elicitation/language.ts';
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { PageWords } from './words/en.ts';

export type { PageWords, Text } from './words/en.ts';

const languages: Record<Language, PageWords> = { en, de };

export function wordsFor(language: Language): PageWords {
  return languages[language];
}

export function languageOf({ headers }: Pick<FastifyRequest, 'headers'>): Language {
  return preferredLanguage(headers['accept-language']);
}

export function wordsOf(request: Pick<FastifyRequest, 'headers'>): PageWords {
  return languages[languageOf(request)];
}
