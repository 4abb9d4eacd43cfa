/**
 * Markdown as Slack's streams take it, in which no one is mentioned (`<!channel>`, `<@U1>`, `<#C1>`) and no label or picture
 * hides an address. Slack reads it by rules of its own, and a link may arrive in two pieces, so links are not read here: an
 * invisible character keeps apart what would make one, and the address is seen as it was written. Pure.
 */
import { plainText } from '../../elicitation/plain-text.ts';

const apart = '\u2060';
/** `<url|label>`, `[label](url)`, `![](url)`, `[label][reference]` and `[reference]: url`. */
const joins = /<(?=[^\s<=])|\](?=[([:])/g;
/** Links in code are text, and programs are copied from there. */
const mentions = /<(?=[!@#])/g;

/** The text between two places of an answer; what is before them is in the stream already. */
export function harmless(markdown: string, begin = 0, end = markdown.length): string {
  let text = '';
  for (const { isCode, from, to } of partsOf(markdown, end)) {
    if (to <= begin) continue;
    // With the last character that is there already, which may begin something.
    const start = Math.max(from, begin - 1);
    const part = markdown.slice(start, to).replaceAll(isCode ? mentions : joins, `$&${apart}`);
    text += start < begin ? part.slice(1) : part;
  }
  return plainText(text);
}

/**
 * What is certainly code and what is not. From where Slack may think otherwise about code (a fence in a list, one that is
 * longer, a single backtick), all is text.
 */
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
