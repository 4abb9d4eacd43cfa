/** Reads what is inside a line: emphasis, code, links. Pure; see `readMarkdown`. */
export type Span =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: 'strong' | 'emphasis' | 'deleted'; spans: Span[] }
  /** `host`: where the link leads, which every renderer shows after the label; empty if the label itself shows it. */
  | { kind: 'link'; href: string; host: string; spans: Span[] };

/**
 * In the order in which they are tried at one place. Each is bounded and matches in only one way, so that none can backtrack
 * far. `Work` limits how often they may fail, because untrusted text must not keep the page busy.
 */
const code = /^(`+)([^`]|[^`][^]{0,2000}?[^`])\1(?!`)/;
const image = /^!\[([^[\]]{0,500})\]\([^()\s]{0,2000}(?:\s+"[^"]{0,500}")?\)/;
const link =
  /^\[((?:[^[\]]|\\[[\]]){1,1000})\]\(\s*<?((?:[^()\s<>]|\([^()\s<>]{0,500}\)){1,2000})>?(?:\s+"[^"]{0,500}")?\s*\)/;
const address = /^(?:<(https?:\/\/[^\s<>]{1,2000})>|(https?:\/\/[^\s<>"`*]{1,2000}))/i;
const strong = /^(\*\*|__)(?=\S)([^]{0,4000}?\S)\1(?!\*)/;
const starred = /^\*(?=\S)((?:\*\*|[^*]){1,4000}?)(?<=\S)\*(?!\w)/;
const underlined = /^_(?=\S)([^_]{1,4000}?)(?<=\S)_(?!\w)/;
const deleted = /^~~(?=\S)([^]{0,4000}?\S)~~/;
const escaped = /^\\([!-/:-@[-`{-~])/;
/** Text up to the next character that may begin a span. */
const plain = /^(?:[^\\`*_~[!<h\n]+|`+|[^])/u;
/** A mark whose end was searched for in vain. */
const opens = /^(?:[`*_]|~~|<https?:)\S/i;

const deepest = 8;

/** How many characters may still be searched in vain for the end of a mark; after that, marks are text. */
interface Work {
  left: number;
}

export function readSpans(text: string, depth = 0, work: Work = { left: 20_000 + 10 * text.length }): Span[] {
  const spans: Span[] = [];
  const say = (more: string) => {
    const last = spans.at(-1);
    if (last?.kind === 'text') last.text += more;
    else spans.push({ kind: 'text', text: more });
  };
  let rest = text;
  let before = '';
  while (rest !== '') {
    const isTried = depth <= deepest && work.left > 0;
    const found = isTried ? spanAt(rest, before, depth, work) : null;
    const length = found?.length ?? plain.exec(rest)?.[0].length ?? 1;
    if (!found) {
      say(rest.slice(0, length));
      const isInName = rest.startsWith('_') && /\w/.test(before);
      if (!isInName && opens.test(rest)) work.left -= Math.min(rest.length, 4_000);
    } else if (typeof found.span === 'string') say(found.span);
    else spans.push(found.span);
    before = rest.charAt(length - 1);
    rest = rest.slice(length);
  }
  return spans;
}

interface Found {
  span: Span | string;
  length: number;
}

function spanAt(rest: string, before: string, depth: number, work: Work): Found | null {
  const inside = (text: string) => readSpans(text, depth + 1, work);
  const isInWord = /\w/.test(before);
  let found: RegExpExecArray | null;
  const is = (pattern: RegExp) => (found = pattern.exec(rest)) !== null;
  const part = (index: number) => found?.[index] ?? '';
  const as = (span: Span | string): Found => ({ span, length: part(0).length });

  if (rest.startsWith('\n')) return { span: { kind: 'break' }, length: 1 };
  if (is(escaped)) return as(part(1));
  if (is(code)) return as({ kind: 'code', text: part(2).replace(/^ (.*) $/, '$1') });
  // Only the text of an image is kept: loading an address that a model made up could leak the conversation.
  if (is(image)) return as(part(1));
  if (is(link)) return as(toLink(part(2), inside(part(1)), part(1)));
  if (!isInWord && is(address)) return fromAddress(part(1), part(2));
  const isUnderlined = rest.startsWith('_');
  if (!(isUnderlined && isInWord) && is(strong)) return as({ kind: 'strong', spans: inside(part(2)) });
  if (is(starred) || (!isInWord && is(underlined))) return as({ kind: 'emphasis', spans: inside(part(1)) });
  if (is(deleted)) return as({ kind: 'deleted', spans: inside(part(1)) });
  return null;
}

/** Only web pages and mail addresses become links. */
function toLink(address: string, spans: Span[], label: string): Span {
  const url = URL.parse(address);
  if (!url || !['https:', 'http:', 'mailto:'].includes(url.protocol)) return { kind: 'emphasis', spans };
  const { href, host, pathname } = url;
  const target = host || pathname;
  return { kind: 'link', href, host: saysItself(label, target) ? '' : target, spans: withoutLinks(spans) };
}

/** A label must not contain other links. */
function withoutLinks(spans: Span[]): Span[] {
  return spans.flatMap((span) => {
    if (!('spans' in span)) return span;
    const inner = withoutLinks(span.spans);
    return span.kind === 'link' ? inner : { ...span, spans: inner };
  });
}

/**
 * Whether the label is the host itself, or an address there. Strict, because a label with a comma, a port, or letters of
 * another script may look like another host.
 */
function saysItself(label: string, host: string): boolean {
  const words = label.toLowerCase().replace(/^(?:https?:\/\/|mailto:)/, '');
  return words.startsWith(host) && /^(?:$|[/?#])/.test(words.slice(host.length)) && !/\p{Cf}/u.test(words);
}

function fromAddress(inBrackets: string, bare: string): Found {
  // A dot after an address ends the sentence.
  const text = inBrackets === '' ? withoutEnd(bare) : inBrackets;
  const length = inBrackets === '' ? text.length : inBrackets.length + 2;
  return { span: toLink(text, [{ kind: 'text', text }], text), length };
}

/** No regular expression, which would be tried from every mark. */
function withoutEnd(address: string): string {
  let end = address.length;
  while (`.,:;!?'")]`.includes(address.charAt(end - 1))) end--;
  return address.slice(0, end);
}
