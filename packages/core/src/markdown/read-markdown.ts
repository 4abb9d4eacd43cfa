/**
 * Reads the Markdown that models write into plain data: blocks of spans. Made for text that is still growing: nothing is an
 * error, and what is not understood stays as it was written. HTML is text. Pure.
 */
import { plainText } from '../elicitation/plain-text.ts';
import { readSpans } from './spans.ts';
import type { Span } from './spans.ts';

export type Block =
  | { kind: 'paragraph'; spans: Span[] }
  | { kind: 'heading'; level: number; spans: Span[] }
  | { kind: 'code'; text: string }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'list'; start: number | null; items: Block[][] }
  | { kind: 'table'; head: Span[][]; rows: Span[][][] }
  | { kind: 'rule' };

/** Deeper nesting is shown as text. */
const deepest = 12;

export function readMarkdown(text: string): Block[] {
  return readLines(linesOf(text)).blocks;
}

/** The blocks of a text that is still growing. */
export interface Reading {
  text: string;
  blocks: Block[];
  /** The line at which each block begins. */
  starts: number[];
}

/** Like `readMarkdown`, but reuses the blocks of the earlier reading that can no longer change. */
export function readGrowing(text: string, before?: Reading): Reading {
  const isGrown = before !== undefined && text.startsWith(before.text);
  // Added text may still merge the last two blocks.
  const kept = isGrown ? Math.max(0, before.blocks.length - 2) : 0;
  const { blocks = [], starts = [] } = before ?? {};
  const read = readLines(linesOf(text), { from: starts[kept] ?? 0 });
  return {
    text,
    blocks: [...blocks.slice(0, kept), ...read.blocks],
    starts: [...starts.slice(0, kept), ...read.starts],
  };
}

/** Marks that change the direction of writing could show a link's host before its label, or backwards. */
function linesOf(text: string): string[] {
  return plainText(text).split('\n');
}

function readLines(lines: string[], { from = 0, depth = 0 } = {}): Omit<Reading, 'text'> {
  const blocks: Block[] = [];
  const starts: number[] = [];
  const paragraph: string[] = [];
  let at = from;
  const flush = () => {
    if (paragraph.length === 0) return;
    starts.push(at - paragraph.length);
    blocks.push({ kind: 'paragraph', spans: readSpans(paragraph.splice(0).join('\n')) });
  };

  while (at < lines.length) {
    const line = lines[at] ?? '';
    const found = depth > deepest ? null : readBlock(lines, at, depth, paragraph.length > 0);
    if (found) {
      flush();
      starts.push(at);
      blocks.push(found.block);
      at = found.next;
      continue;
    }
    if (line.trim() === '') flush();
    else paragraph.push(line.trim());
    at++;
  }
  flush();
  return { blocks, starts };
}

function readInner(lines: string[], depth: number): Block[] {
  return readLines(lines, { depth: depth + 1 }).blocks;
}

interface Found {
  block: Block;
  next: number;
}

function readBlock(lines: string[], at: number, depth: number, isInParagraph: boolean): Found | null {
  const line = lines[at] ?? '';
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
  if (fence !== undefined) return readCode(lines, at, fence);
  const heading = /^ {0,3}(#{1,6})(?:\s.*)?$/.exec(line);
  if (heading) {
    const [, marks = ''] = heading;
    const spans = readSpans(headingText(line.trim().slice(marks.length)));
    return { block: { kind: 'heading', level: marks.length, spans }, next: at + 1 };
  }
  if (/^ {0,3}([-*_])(?:\s*\1){2,}\s*$/.test(line)) return { block: { kind: 'rule' }, next: at + 1 };
  if (/^ {0,3}>/.test(line)) return readQuote(lines, at, depth);
  // In a paragraph, a line that begins with a number, such as a year, is no list.
  const item = itemAt(line);
  if (item && (!isInParagraph || item.number === null || item.number === 1))
    return readList(lines, at, depth, item);
  return isInParagraph ? null : readTable(lines, at);
}

/** Without closing `#` marks, which a space separates from the text. */
function headingText(text: string): string {
  const words = text.trim();
  let end = words.length;
  while (words.charAt(end - 1) === '#') end--;
  return end === 0 || /\s/.test(words.charAt(end - 1)) ? words.slice(0, end).trim() : words;
}

function readCode(lines: string[], at: number, fence: string): Found {
  const isEnd = (line: string) => line.trim().startsWith(fence) && /^[`~]+$/.test(line.trim());
  const end = lines.findIndex((line, index) => index > at && isEnd(line));
  const text = lines.slice(at + 1, end === -1 ? undefined : end).join('\n');
  return { block: { kind: 'code', text }, next: end === -1 ? lines.length : end + 1 };
}

function readQuote(lines: string[], at: number, depth: number): Found {
  let next = at;
  while (/^ {0,3}>/.test(lines[next] ?? '')) next++;
  const inner = lines.slice(at, next).map((line) => line.replace(/^ {0,3}> ?/, ''));
  return { block: { kind: 'quote', blocks: readInner(inner, depth) }, next };
}

interface Item {
  indent: number;
  /** The column at which its text begins. */
  offset: number;
  number: number | null;
}

function itemAt(line: string): Item | null {
  const found = /^( *)(?:[-*+]|(\d{1,9})[.)])(?: +|$)/.exec(line);
  if (!found) return null;
  const [marker, indent = '', number] = found;
  return {
    indent: indent.length,
    offset: marker.length,
    number: number === undefined ? null : Number(number),
  };
}

function readList(lines: string[], at: number, depth: number, first: Item): Found {
  const items: string[][] = [];
  let next = at;
  let offset = first.offset;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? '';
    const item = itemAt(line);
    const isOwn = item !== null && item.indent < offset && (item.number === null) === (first.number === null);
    if (isOwn) {
      if (item.indent < first.indent) break;
      offset = item.offset;
      items.push([line.slice(item.offset)]);
      continue;
    }
    const indent = line.length - line.trimStart().length;
    const isBlank = line.trim() === '';
    const goesOn = isBlank
      ? isStillInside(lines[next + 1], first, offset)
      : indent >= Math.min(offset, first.indent + 2) || (lines[next - 1]?.trim() !== '' && item === null);
    if (!goesOn) break;
    items.at(-1)?.push(line.slice(Math.min(indent, offset)));
  }
  const blocks = items.map((item) => readInner(item, depth));
  return { block: { kind: 'list', start: first.number, items: blocks }, next };
}

function isStillInside(line: string | undefined, first: Item, offset: number): boolean {
  if (line === undefined || line.trim() === '') return false;
  const item = itemAt(line);
  const indent = line.length - line.trimStart().length;
  return (
    indent >= offset ||
    (item !== null && item.indent >= first.indent && (item.number === null) === (first.number === null))
  );
}

function readTable(lines: string[], at: number): Found | null {
  const [head = '', rule = ''] = [lines[at], lines[at + 1]];
  if (!head.includes('|') || !cellsOf(rule).every((cell) => /^:?-+:?$/.test(cell))) return null;
  if (cellsOf(head).length !== cellsOf(rule).length) return null;
  let next = at + 2;
  while ((lines[next] ?? '').includes('|')) next++;
  const rows = lines.slice(at + 2, next).map((line) => toSpans(line));
  return { block: { kind: 'table', head: toSpans(head), rows }, next };
}

function toSpans(line: string): Span[][] {
  return cellsOf(line).map((cell) => readSpans(cell));
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
