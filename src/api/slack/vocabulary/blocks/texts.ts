/** Block Kit elements for messages and windows, within Slack's limits. Pure. */
import type { KnownBlock, PlainTextElement, SectionBlock } from '@slack/types';
import { plainLine, plainMessage } from '@interlude-ai/core/elicitation/plain-text.ts';
import { escapeText } from '../text/mrkdwn.ts';
import type { SlackWords } from '../words/en.ts';

/** Slack's limit for a section. */
export const longestSection = 3_000;

/** Plain text: not even the name of an emoji is markup. */
export function literal(text: string): PlainTextElement {
  return { type: 'plain_text', text, emoji: false };
}

/** For our own text; text of others has to go through `inline` first. */
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

/** Text of others on one line, escaped and cut to `most` characters. */
export function inline(text: string, most = 500): string {
  return escapedUpTo(plainLine(text), most);
}

/** Per quotation. */
const mostLines = 20;

/** Text of others after our own: several lines become a quotation, so that none looks like a message of ours. */
export function quoted(text: string, most: number): string {
  const [first = '', ...others] = plainMessage(text).split('\n');
  if (others.length === 0) return escapedUpTo(first, most);
  const shown = [first, ...others].slice(0, mostLines);
  const left = others.length >= mostLines ? ['…'] : [];
  const marks = 3 * (mostLines + 1);
  const lines = escapedUpTo([...shown, ...left].join('\n'), most - marks).split('\n');
  return lines.map((line) => `\n> ${line}`).join('');
}

/** Ends with an ellipsis if cut. Slack counts escapes, so they count here. */
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

/** The complete text of others as plain text, in as many sections as needed. */
export function sections(text: string): SectionBlock[] {
  return pieces(text, longestSection).map((piece) => ({
    type: 'section',
    text: literal(piece),
  }));
}

/** Cuts a text into pieces that cost at most `most` each, at the ends of lines if possible. `costOf` has to be additive. */
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

export const stopAction = 'turn_stop';

/** The button's value is the thread. It stops the turn of the person who presses it. */
export function withStopButton(
  words: Pick<SlackWords, 'stop'>,
  text: string,
  threadTs: string,
): KnownBlock[] {
  return [
    marked(text),
    {
      type: 'actions',
      elements: [{ type: 'button', action_id: stopAction, value: threadTs, text: literal(words.stop) }],
    },
  ];
}
