/**
 * The languages in which the service's own texts exist. Another one is a line here and a file in each folder `words/`; the compiler
 * names what is missing.
 */
const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** `tag` as in `lang`. English unless there is a translation. */
export function languageOf(tag: string): Language {
  return translationFor(tag) ?? 'en';
}

/** `accepted` as in `Accept-Language`. */
export function preferredLanguage(accepted = ''): Language {
  const ranked = accepted.split(',').map((part) => {
    const [tag = '', weight = 'q=1'] = part.split(';');
    return { language: translationFor(tag), rank: Number(weight.trim().slice('q='.length)) };
  });
  const wanted = ranked.filter(({ rank }) => rank > 0).toSorted((one, other) => other.rank - one.rank);
  return wanted.find(({ language }) => language !== undefined)?.language ?? 'en';
}

function translationFor(tag: string): Language | undefined {
  const [name = ''] = tag.trim().toLowerCase().split('-');
  return languages.find((language) => language === name);
}
