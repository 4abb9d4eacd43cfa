/** What Slack shows, in the language of the person it is for. */
import type { Language } from '@interlude-ai/core/elicitation/language.ts';
import { de } from './words/de.ts';
import { en } from './words/en.ts';
import type { SlackWords } from './words/en.ts';

export type { SlackWords } from './words/en.ts';

export const slackWords: Record<Language, SlackWords> = { en, de };
