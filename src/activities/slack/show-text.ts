/**
 * Shows a text of an answer in as many messages as it takes, each of which holds the text from one place to another. They
 * are compared with the text as it is now: what became void is taken back, and what is missing is added.
 */
import { closing, excerpt, openFence, reach } from '../../slack/text/cut.ts';
import { harmless } from '../../slack/text/harmless.ts';
import { toMrkdwn } from '../../slack/text/mrkdwn.ts';
import type { SlackMessageRow } from '../../storage/ports/slack-deliveries.ts';
import { digestOf } from './messages.ts';
import type { Messages } from './messages.ts';

export interface ShownText {
  subject: string;
  markdown: string;
  /** Nothing is added to it any more. */
  isFinal: boolean;
}

/** Becomes false where Slack turns out not to stream. */
export interface Streaming {
  isPossible: boolean;
}

/** Slack takes 4,000 in a message that is edited. */
const mostCharacters = 3_900;
const most = mostCharacters;
const fits = (markdown: string) => toMrkdwn(markdown).length <= mostCharacters;
/** A stream that is nearly full ends with a line. */
const nearlyFull = 3_000;
/** Slack ends streams after about five minutes. */
const rotateMs = 4 * 60 * 1000;

export async function showText(messages: Messages, text: ShownText, streaming: Streaming): Promise<void> {
  const { markdown, subject, isFinal } = text;
  let at = 0;
  for (const found of messages.of('text', subject)) {
    const row = await messages.locate(found, (shown) => isBeginOf(shown, markdown.slice(found.begins)));
    if (!row) continue;
    at = await correct(messages, row, text, at);
  }
  const last = messages.of('text', subject).at(-1);
  if (last?.isOpen) at = await grow(messages, last, text);
  while (at < markdown.length && markdown.slice(at).trim() !== '') {
    const isStream = !isFinal && streaming.isPossible;
    const end = reachOf(markdown, at);
    const isOpen = end === markdown.length && !isFinal;
    const message = {
      kind: 'text' as const,
      subject,
      begins: at,
      ends: end,
      digest: digest(markdown, at, end),
      isOpen,
    };
    if (isStream && isOpen) {
      const fence = openFence(markdown, at);
      const opened = fence === '' ? '' : `${fence}\n`;
      streaming.isPossible = await messages.stream(message, opened + harmless(markdown, at, end));
      if (!streaming.isPossible) continue;
    } else await messages.post(message, contentsOf(markdown, at, end));
    at = end;
  }
}

/** Makes a message show what is right by now. Returns up to where the text is shown. */
async function correct(
  messages: Messages,
  row: SlackMessageRow,
  { markdown, isFinal }: ShownText,
  at: number,
): Promise<number> {
  const isRight = row.isSure && row.begins === at && row.digest === digest(markdown, row.begins, row.ends);
  if (isRight) return row.ends;
  if (markdown.slice(at).trim() === '') {
    await messages.remove(row);
    return at;
  }
  const end = reachOf(markdown, at);
  const isOpen = end === markdown.length && !isFinal;
  const to = { begins: at, ends: end, digest: digest(markdown, at, end), isOpen };
  await messages.rewrite(row, to, contentsOf(markdown, at, end));
  return end;
}

/** Adds to the last message, as far as it holds more. Returns up to where the text is shown. */
async function grow(messages: Messages, row: SlackMessageRow, text: ShownText): Promise<number> {
  const { markdown, isFinal } = text;
  const full = reachOf(markdown, row.begins);
  if (!row.isStream) {
    const isOpen = full === markdown.length && !isFinal;
    if (full !== row.ends)
      await messages.rewrite(
        row,
        { ends: full, digest: digest(markdown, row.begins, full), isOpen },
        contentsOf(markdown, row.begins, full),
      );
    else if (!isOpen) await messages.finish(row);
    return row.ends;
  }
  const isOld = Date.now() - row.startedAt > rotateMs;
  const whole = Math.max(row.ends, full);
  const isNear = whole - row.begins > nearlyFull && !isFinal;
  const end = isNear ? lineEnd(markdown, row.ends, whole) : whole;
  if (end > row.ends && !isOld) {
    const added = harmless(markdown, row.ends, end);
    const to = { ends: end, digest: digest(markdown, row.begins, end) };
    if (!(await messages.append(row, to, added))) return row.ends;
  }
  if (isFinal || isOld || full < markdown.length) await close(messages, row, markdown);
  return row.ends;
}

async function close(messages: Messages, row: SlackMessageRow, markdown: string): Promise<void> {
  const isWhole = await messages.stop(row, closing(markdown, row.ends));
  const shown = excerpt(markdown, row.begins, row.ends);
  // Streams show tables and links as they were written.
  const isRaw =
    /^ {0,3}\|.*\n {0,3}\|[ :-]+\|/m.test(shown) ||
    harmless(markdown, row.begins, row.ends) !== markdown.slice(row.begins, row.ends);
  if ((!isWhole && !row.isSure) || (isRaw && fits(shown)))
    await messages.rewrite(row, {}, contentsOf(markdown, row.begins, row.ends));
}

function reachOf(markdown: string, begin: number): number {
  return reach(markdown, begin, { most, fits });
}

/** The last place before `end` at which a line or else a word ends, where the rest of a message may be short. */
function lineEnd(markdown: string, begin: number, end: number): number {
  const added = markdown.slice(begin, end);
  const found = Math.max(added.lastIndexOf('\n'), added.lastIndexOf(' '));
  return begin + found + 1;
}

function contentsOf(markdown: string, begin: number, end: number) {
  return { text: toMrkdwn(excerpt(markdown, begin, end)) };
}

function digest(markdown: string, begin: number, end: number): string {
  return digestOf(markdown.slice(begin, end));
}

/** However Slack writes it down. */
function isBeginOf(shown: string, markdown: string): boolean {
  const bare = (text: string) => text.replaceAll(/&(?:amp|lt|gt);|[^\p{L}\p{N}]/gu, '');
  return bare(markdown).startsWith(bare(shown));
}
