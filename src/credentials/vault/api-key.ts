/** An API key as a person enters it, and what may be shown of it afterwards. */

export type ReadKey = { kind: 'key'; apiKey: string } | { kind: 'malformed'; message: string };

const longestKey = 4_096;

/** Only what every server reads alike in a header. The message never repeats what was entered. */
export function readKey(entered: string): ReadKey {
  const apiKey = entered.trim();
  const problem = problemOf(apiKey);
  return problem === null ? { kind: 'key', apiKey } : { kind: 'malformed', message: problem };
}

function problemOf(apiKey: string): string | null {
  if (apiKey === '') return 'Enter the key.';
  if (apiKey.length > longestKey)
    return `This is too long for a key: it has ${apiKey.length} characters, and ${longestKey} are the most.`;
  if (/\s/.test(apiKey))
    return 'There is a space or a line break in this key. Enter the key alone, without a word like “Bearer” before it.';
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    return 'There is a character in this key that keys do not have. Copy it once more, and nothing around it.';
  return null;
}

/** Of a shorter key, the last characters would say too much. */
const longEnoughToQuote = 24;

/** By which its owner recognises it among theirs. */
export function accountOf(apiKey: string): string | null {
  return apiKey.length < longEnoughToQuote ? null : `key ending in …${apiKey.slice(-4)}`;
}
