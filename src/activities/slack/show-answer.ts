/**
 * Brings a Slack thread up to date with an answer, part by part. Idempotent: what is shown already is not touched.
 *
 * A text takes as many messages as it needs, each of which shows the text from one offset to another. They are compared
 * with the current text: void text is removed, and what is missing is added.
 */
import type { ElicitationEvent } from '@interlude-ai/core/elicitation/elicitation.ts';
import type { Answer, AnswerPart } from '../../api/slack/vocabulary/answer.ts';
import { escapeText, toMrkdwn } from '../../api/slack/vocabulary/text/mrkdwn.ts';
import type { SlackQuestions } from '../../storage/tables/slack.ts';
import type { SlackDelivery } from '../../storage/tables/slack-deliveries.ts';
import type { SlackMessageRow } from '../../storage/schema/slack-tables.ts';
import { digestOf } from './messages.ts';
import type { Messages } from './messages.ts';
import { questionMessage } from '../../api/slack/vocabulary/blocks/question-message.ts';
import type { Contents } from './slack-calls.ts';
import { closing, excerpt, openFence, reach } from '../../api/slack/vocabulary/text/cut.ts';
import { harmless } from '../../api/slack/vocabulary/text/harmless.ts';
import type { SlackWords } from '../../api/slack/vocabulary/words.ts';

interface Showing extends Pick<SlackDelivery, 'slackUser'>, Pick<SlackQuestions, 'wasSettledElsewhere'> {
  words: SlackWords;
  streaming: Streaming;
}

export async function showAnswer(
  messages: Messages,
  { parts, state }: Answer,
  { words, slackUser, streaming, wasSettledElsewhere }: Showing,
): Promise<void> {
  const contentsOf = async (question: ElicitationEvent) => {
    const isElsewhere = question.status !== 'pending' && (await wasSettledElsewhere(question.elicitationId));
    return questionMessage(words, question, { slackUser, isElsewhere });
  };
  for (const [index, part] of parts.entries()) {
    switch (part.kind) {
      case 'text': {
        const isFinal = state === 'ended' || index < parts.length - 1;
        await showText(messages, { ...part, isFinal }, streaming);
        break;
      }
      case 'question':
        await showMessage(messages, part, await contentsOf(part.question));
        break;
      case 'end':
        await showMessage(messages, part, { text: escapeText(part.words) });
        break;
      default:
        return part satisfies never;
    }
  }
}

async function showMessage(
  messages: Messages,
  { kind, subject }: Pick<AnswerPart, 'kind' | 'subject'>,
  contents: Contents,
): Promise<void> {
  const digest = digestOf(JSON.stringify(contents));
  const [found] = messages.of(kind, subject);
  const row = found && (await messages.locate(found, () => false));
  if (!row) {
    await messages.post({ kind, subject, begins: 0, ends: 0, digest, isOpen: false }, contents);
    return;
  }
  if (!row.isSure || row.digest !== digest) await messages.rewrite(row, { digest }, contents);
}

interface ShownText {
  subject: string;
  markdown: string;
  /** Nothing more will be added to it. */
  isFinal: boolean;
}

interface Streaming {
  /** Becomes false if Slack turns out not to stream here. */
  isPossible: boolean;
}

/** Slack allows 4,000 in a message that is edited. */
const most = 3_900;
const fits = (markdown: string) => toMrkdwn(markdown).length <= most;
/** A stream with more than this ends at the next line. */
const nearlyFull = 3_000;
/** Slack ends streams after about five minutes. */
const rotateMs = 4 * 60 * 1000;

async function showText(messages: Messages, text: ShownText, streaming: Streaming): Promise<void> {
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

/** Corrects a message. Returns the offset up to which the text is shown. */
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

/** Adds to the last message as much as fits. Returns the offset up to which the text is shown. */
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

/** The last offset before `end` at which a line, or else a word, ends. */
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

/** Ignores how Slack formats text. */
function isBeginOf(shown: string, markdown: string): boolean {
  const bare = (text: string) => text.replaceAll(/&(?:amp|lt|gt);|[^\p{L}\p{N}]/gu, '');
  return bare(markdown).startsWith(bare(shown));
}
