/** What was recorded and what is now, as a diff. */
import { styleText } from 'node:util';
import type { Difference } from '../../testing/cassette/replay-server.ts';
import { plain } from '../chat/wording.ts';

export function differenceLines({ what, lines }: Difference): string[] {
  return [
    '',
    `  ${styleText('red', '✗')} ${plain(what)}`,
    ...lines.map((line) => `    ${coloured(plain(line))}`),
  ];
}

function coloured(line: string): string {
  if (line.startsWith('-')) return styleText('red', line);
  return line.startsWith('+') ? styleText('green', line) : styleText('dim', line);
}
