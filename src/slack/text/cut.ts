/**
 * Where a long answer is cut: as much of its Markdown as one message holds, up to the end of a paragraph, a line, a
 * sentence or a word, whichever is the last one that leaves the message more than half full. Code that is cut is closed
 * and opened again. Pure.
 */

/** The fence that is open at this place, as it was opened; empty: none. */
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

/** What stands between two places, with the code that began before it opened again, and what is open at its end closed. */
export function excerpt(markdown: string, begin: number, end: number): string {
  const before = openFence(markdown, begin);
  const after = openFence(markdown, end);
  const text = markdown.slice(begin, end);
  const opened = before === '' ? text : `${before}\n${text}`;
  return after === '' ? opened : `${opened}${closing(markdown, end)}`;
}

/** What has to follow a text that ends here, so that its code ends, too. */
export function closing(markdown: string, end: number): string {
  const fence = /^(`+|~+)/.exec(openFence(markdown, end))?.[1];
  if (fence === undefined) return '';
  return markdown.charAt(end - 1) === '\n' ? fence : `\n${fence}`;
}

/** How far one message that begins here reaches: to the end, where `fits` holds for all of it. */
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

/** In this order: the end of a paragraph, a line, a sentence, a word. */
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
