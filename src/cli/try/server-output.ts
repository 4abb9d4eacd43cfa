/** What a server on stdio writes to its standard error, shown beside the story. */
import { styleText } from 'node:util';
import { clauses } from '../../testing/call/fault.ts';
import { dim, oneLine, plain } from '../chat/wording.ts';
import type { Terminal } from './terminal.ts';

const longestLine = 80;

/** The first line that is no message: what comes after it says no more of the mistake. */
export function showStrayLine(terminal: Terminal): (line: string) => void {
  let isSaid = false;
  return (line) => {
    if (isSaid) return;
    isSaid = true;
    terminal.line(
      `  ${styleText('yellow', '!')} ${strayInWords(line)} Logs belong on standard error: most clients break off here.`,
    );
    const { text, url } = clauses.strayOutput;
    terminal.line(dim(`    The rule: ${text}.`));
    terminal.line(dim(`    ${url}`));
  };
}

export function strayInWords(line: string): string {
  const text = oneLine(line);
  const shown = text.length > longestLine ? `${text.slice(0, longestLine - 1)}…` : text;
  return `It wrote to its standard output what is no message: “${shown}”.`;
}

export function showOutput(terminal: Terminal): (chunk: Buffer) => void {
  return (chunk) => {
    for (const line of chunk.toString().split('\n'))
      if (line.trim() !== '') terminal.line(dim(`  ┊ ${plain(line)}`));
  };
}
