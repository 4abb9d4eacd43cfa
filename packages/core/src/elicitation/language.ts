/** The languages in which the service's own texts exist: here, and as one file each in `elicitation/words/` and `turn/words/`. */
const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** `tag` as in `lang` and `Accept-Language`. English unless there is a translation. */
export function languageOf(tag: string): Language {
  const [name = ''] = tag.toLowerCase().split('-');
  return languages.find((language) => language === name) ?? 'en';
}
