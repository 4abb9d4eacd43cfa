/**
 * Makes Markdown safe for Slack's streams: it mentions no one (`<!channel>`, `<@U1>`, `<#C1>`), and no label or picture hides
 * a URL. Slack parses Markdown in its own way, and a link may arrive in two chunks, so links are not parsed here: an invisible
 * character is put where one would begin, and the URL shows as it was written. Pure.
 */
import { plainText } from '@interlude-ai/core/elicitation/plain-text.ts';

const apart = '\u2060';
/** `<url|label>`, `[label](url)`, `![](url)`, `[label][reference]` and `[reference]: url`. */
const joins = /<(?=[^\s<=])|\](?=[([:])/g;
/** In code only mentions: links are text there, and people copy code. */
const mentions = /<(?=[!@#])/g;

/** The text between two positions; what is before `begin` was sent already. */
export function harmless(markdown: string, begin = 0, end = markdown.length): string {
  let text = '';
  for (const { isCode, from, to } of partsOf(markdown, end)) {
    if (to <= begin) continue;
    // Include the last character that was sent: it may begin a match.
    const start = Math.max(from, begin - 1);
    const part = markdown.slice(start, to).replaceAll(isCode ? mentions : joins, `$&${apart}`);
    text += start < begin ? part.slice(1) : part;
  }
  return plainText(text);
}

/** Splits into what is certainly code and what is not. After a fence that Slack may read differently, everything counts as text. */
function partsOf(markdown: string, end: number): { isCode: boolean; from: number; to: number }[] {
  const parts = [];
  let isCode = false;
  let from = 0;
  for (const { index, 0: line } of markdown.slice(0, end).matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const isFence: boolean = (isCode ? /^```\s*$/ : /^```[\w+#.-]*\s*$/).test(line);
    const isUnclear = isCode
      ? line.includes('```')
      : (line.split('`').length - 1) % 2 === 1 || line.includes('```');
    if (!isFence && !isUnclear) continue;
    parts.push({ isCode, from, to: index });
    from = index;
    isCode = isFence && !isCode;
    if (!isFence) break;
  }
  return [...parts, { isCode, from, to: end }];
}
