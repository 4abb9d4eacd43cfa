/**
 * What the program writes for people goes through here: words of servers, tools and models cannot rewrite the screen or turn
 * around what stands beside them, however they got into a line. Every other place only decides what to say.
 */
import { format, stripVTControlCharacters } from 'node:util';
import { plainText, tricks } from '../elicitation/plain-text.ts';

/** Bold, dim and the colours that `styleText` makes here. */
const style = new RegExp(`(${'\u001B'}\\[(?:[12]|22|3[1-79])m)`);

/** As `plainText`; the program's own styles stay. */
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

/** The same value, for programs that read it and for the terminal on which it may end up. */
export function toJsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(
    tricks,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

export function print(text: string): void {
  process.stdout.write(forTerminal(text));
}

/** What is no result: standard output may belong to a program. */
export function printAside(text: string): void {
  process.stderr.write(forTerminal(text));
}

/** Libraries warn on the console, and repeat there what a server said. */
export function cleanConsole(): void {
  for (const method of ['warn', 'error'] as const)
    console[method] = (...words: unknown[]) => printAside(`${format(...words)}\n`);
}
