/** The known word that was probably meant; undefined if none is near. `mostEdits`: a third of the word by default. */
export function nearestSpelling(
  word: string,
  known: readonly string[],
  mostEdits?: number,
): string | undefined {
  const plain = normalize(word);
  if (plain.length > longestWord) return undefined;
  const most = mostEdits ?? Math.max(1, Math.floor(plain.length / 3));
  const [nearest] = known
    .map((candidate) => ({ candidate, edits: editsBetween(plain, normalize(candidate)) }))
    .filter(({ edits }) => edits < plain.length && edits <= most)
    .toSorted((one, other) => one.edits - other.edits);
  return nearest?.candidate;
}

/** ` (did you mean …?)`, or an empty string. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = nearestSpelling(word, known);
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
}

const longestWord = 64;

/** Removes case and separators: `base_url`, `base-url` and `baseURL` are equal. */
function normalize(word: string): string {
  return word.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/**
 * One omission in the middle or at the end counts as one edit: `maxTokens` for `maxOutputTokens`, `agent` for
 * `agentId`.
 */
function editsBetween(from: string, to: string): number {
  const cut = Array.from({ length: from.length + 1 }, (_, index) => index).some(
    (index) => index >= 3 && to.startsWith(from.slice(0, index)) && to.endsWith(from.slice(index)),
  );
  return cut && to.length > from.length ? 1 : distance(from, to);
}

/** The number of letters to insert, delete, replace or swap with a neighbour. */
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
