/**
 * Cuts a long answer into messages: at the end of a paragraph, a line, a sentence or a word, in this order, if that leaves the
 * message more than half full. A code block that is cut is closed and opened again. Pure.
 */

/** The line that opened the code block at this position; empty if there is none. */
export function openFence(markdown: string, at: number): string {
  let open = '';
  for (const line of markdown.slice(0, at).split('\n')) {
    const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence === undefined) continue;
    if (open === '') open = line.trim();
    else if (line.trim() === fence && open.startsWith(fence)) open = '';
  }
  return open;
}

/** The Markdown between two positions, with code blocks opened and closed as needed. */
export function excerpt(markdown: string, begin: number, end: number): string {
  const before = openFence(markdown, begin);
  const after = openFence(markdown, end);
  const text = markdown.slice(begin, end);
  const opened = before === '' ? text : `${before}\n${text}`;
  return after === '' ? opened : `${opened}${closing(markdown, end)}`;
}

/** The fence that closes an open code block at this position. */
export function closing(markdown: string, end: number): string {
  const fence = /^(`+|~+)/.exec(openFence(markdown, end))?.[1];
  if (fence === undefined) return '';
  return markdown.charAt(end - 1) === '\n' ? fence : `\n${fence}`;
}

/** The end of a message that begins at `begin`: as far as `most` and `fits` allow. */
export function reach(
  markdown: string,
  begin: number,
  { most, fits }: { most: number; fits(excerpt: string): boolean },
): number {
  let end = Math.min(markdown.length, begin + most);
  while (end < markdown.length || !fits(excerpt(markdown, begin, end))) {
    const cut = cutBefore(markdown, begin, end);
    if (fits(excerpt(markdown, begin, cut))) return cut;
    const shorter = begin + Math.floor((cut - begin) * 0.8);
    if (shorter <= begin) return Math.max(cut, begin + 1);
    end = shorter;
  }
  return end;
}

const ends = ['\n\n', '\n', '. ', ' '];

function cutBefore(markdown: string, begin: number, end: number): number {
  const text = markdown.slice(begin, end);
  for (const mark of ends) {
    const found = text.lastIndexOf(mark);
    if (found > text.length / 2) return begin + found + mark.length;
  }
  // Not between the halves of a character.
  const isHalf = /[\ud800-\udbff]$/.test(text) && text.length > 1;
  return isHalf ? end - 1 : end;
}
