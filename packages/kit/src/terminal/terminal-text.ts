/**
 * All output for people goes through here, so that text of servers, tools and models cannot rewrite the screen or
 * reverse the text around it.
 */
import { format, stripVTControlCharacters, styleText } from 'node:util';
import { plainText, tricks } from '@interlude-ai/core/elicitation/plain-text.ts';

export const dim = (text: string): string => styleText('dim', text);
export const bold = (text: string): string => styleText('bold', text);

/** Removes what could rewrite the screen, reverse text, or disguise where a link leads. */
export const plain = plainText;

/** As `plain`, with all white space as single spaces. */
export function oneLine(text: string): string {
  return plain(text).replaceAll(/\s+/g, ' ').trim();
}

export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** `1 tool`, `2 tools`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Bold, dim and the colours that `styleText` makes. */
const style = new RegExp(`(${'\u001B'}\\[(?:[12]|22|3[1-79])m)`);

/** As `plainText`, but keeps the program's own styles. */
export function forTerminal(text: string): string {
  return text
    .split(style)
    .map((part, index) => (index % 2 === 1 ? part : plainText(part)))
    .join('');
}

/** For pipes and files: without styles as well. */
export function withoutStyles(text: string): string {
  return plainText(stripVTControlCharacters(text));
}

/** JSON that is also safe to show on a terminal. */
export function toJsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    tricks,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function print(text: string): void {
  process.stdout.write(forTerminal(text));
}

/** For everything except results: standard output may belong to a program. */
export function printAside(text: string): void {
  process.stderr.write(forTerminal(text));
}

/** Libraries write warnings to the console, with text of servers in them. */
export function cleanConsole(): void {
  for (const method of ['warn', 'error'] as const)
    console[method] = (...words: unknown[]) => printAside(`${format(...words)}\n`);
}
