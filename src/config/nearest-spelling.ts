/** The known word that somebody probably meant; undefined when none is near. */
function nearestSpelling(word: string, known: readonly string[]): string | undefined {
  const plain = normalize(word);
  if (plain.length > longestWord) return undefined;
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: editsBetween(plain, normalize(candidate)) }))
    .filter(({ edits }) => edits < plain.length && edits <= Math.max(1, Math.floor(plain.length / 3)))
    .toSorted((one, other) => one.edits - other.edits);
  return nearest?.candidate;
}

/** ` (did you mean …?)`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = nearestSpelling(word, known);
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
}

const longestWord = 64;

/** Without case and separators: `base_url`, `base-url` and `baseURL` are equal. */
function normalize(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** `maxTokens` is short for `maxOutputTokens`: what was left out in the middle counts as one edit. */
function editsBetween(from: string, to: string): number {
  const cut = Array.from(from, (_, index) => index).some(
    (index) => index >= 3 && to.startsWith(from.slice(0, index)) && to.endsWith(from.slice(index)),
  );
  return cut && to.length > from.length ? 1 : distance(from, to);
}

/** How many letters have to be put in, left out, replaced or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (before[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    before = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
