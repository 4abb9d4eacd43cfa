/** What a server on stdio writes to its standard error, shown beside the story. */
import { dim, plain } from '../chat/wording.ts';
import type { Terminal } from './terminal.ts';

export function showOutput(terminal: Terminal): (chunk: Buffer) => void {
  return (chunk) => {
    for (const line of chunk.toString().split('\n'))
      if (line.trim() !== '') terminal.line(dim(`  ┊ ${plain(line)}`));
  };
}
