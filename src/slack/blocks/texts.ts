/** The small parts that messages and windows are made of, within Slack's limits. Pure. */
import type { KnownBlock, PlainTextElement, SectionBlock } from '@slack/types';
import { plainLine, plainMessage } from '../../elicitation/plain-text.ts';
import { escapeText } from '../text/mrkdwn.ts';

/** Of a section. */
export const longestSection = 3_000;

/** Nothing in it is read as markup, not even the name of an emoji. */
export function literal(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** In our own words: what strangers wrote goes through `inline` first. */
export function marked(text: string, { expand = false } = {}): SectionBlock {
  return {
    type: 'section',
    ...(expand && { expand }),
    text: { type: 'mrkdwn', text, verbatim: true },
  };
}

export function note(text: string): KnownBlock {
  return { type: 'context', elements: [{ type: 'mrkdwn', text, verbatim: true }] };
}

/** A stranger's words on one line of ours; at most so many characters of Slack's. */
export function inline(text: string, most = 500): string {
  return escapedUpTo(plainLine(text), most);
}

/** Of a stranger's words in a message of ours. */
const mostLines = 20;

/**
 * The same behind our own words: several lines stand below them as a quotation, so that none is taken for a message of
 * its own.
 */
export function quoted(text: string, most: number): string {
  const [first = '', ...others] = plainMessage(text).split('\n');
  if (others.length === 0) return escapedUpTo(first, most);
  const shown = [first, ...others].slice(0, mostLines);
  const left = others.length >= mostLines ? ['…'] : [];
  const marks = 3 * (mostLines + 1);
  const lines = escapedUpTo([...shown, ...left].join('\n'), most - marks).split('\n');
  return lines.map((line) => `\n> ${line}`).join('');
}

/** What is cut ends with an ellipsis. Escapes count: they are what Slack counts. */
function escapedUpTo(text: string, most: number): string {
  const whole = escapeText(text);
  if (whole.length <= most) return whole;
  let shown = '';
  for (const character of text) {
    const next = escapeText(character);
    if (shown.length + next.length >= most) break;
    shown += next;
  }
  return `${shown}…`;
}

/** A stranger's words as a whole, to the letter, in as many sections as they need. */
export function sections(text: string): SectionBlock[] {
  return pieces(text, longestSection).map((piece) => ({
    type: 'section',
    text: literal(piece),
  }));
}

/** A text in pieces of at most `most`, cut behind lines where there are any. What two texts cost together is what each costs. */
export function pieces(text: string, most: number, costOf = (part: string) => part.length): string[] {
  const found: string[] = [];
  let piece = '';
  let cost = 0;
  const end = () => {
    if (piece.trim() !== '') found.push(piece);
    piece = '';
    cost = 0;
  };
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const isShort = costOf(line) <= most;
    for (const part of isShort ? [line] : line) {
      if (cost + costOf(part) > most) end();
      piece += part;
      cost += costOf(part);
    }
  }
  end();
  return found;
}
