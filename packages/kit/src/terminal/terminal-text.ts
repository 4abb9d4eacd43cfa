/**
 * All output for people goes through here, so that text of servers, tools and models cannot rewrite the screen or
 * reverse the text around it.
 */
import { format, stripVTControlCharacters } from 'node:util';
import { plainText, tricks } from '@interlude-ai/core/elicitation/plain-text.ts';

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
