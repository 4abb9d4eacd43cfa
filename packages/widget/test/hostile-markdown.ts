/** Texts that are made to keep the page busy: one opening, then the same piece again and again. */
import { readMarkdown } from '@interlude-ai/core/markdown/read-markdown.ts';
import { processorMs } from '../../../test/processor-ms.ts';

const length = 20_000;
export const pieces = [' ', ...String.raw`* _ ** __ ~~ [ ]( ![ < > | # - : ! . a \ (`.split(' '), '`'];
const openings = [
  '',
  '_a',
  '*a',
  '**a',
  '# ',
  '[a',
  '~~a',
  '`a',
  'https://a.example/',
  '| a |\n|-',
  '> ',
  '- ',
];

export function repeated(ends: string[]): string[] {
  return openings.flatMap((opening) => ends.map((piece) => opening + piece.repeat(length / piece.length)));
}

export const msToRead = (text: string): number => processorMs(() => readMarkdown(text));

export function slowestOf(texts: string[]): { ms: number; text: string } {
  return texts
    .map((text) => ({ ms: msToRead(text), text: text.slice(0, 20) }))
    .reduce((one, other) => (one.ms > other.ms ? one : other));
}
