/**
 * Where the conversation is written; and the plain implementation without control codes, for pipes, files and tests.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { plain, withoutStyles } from '@interlude-ai/kit/terminal/terminal-text.ts';

export interface Screen {
  text(text: string): void;
  endText(): void;
  /** The last text is void. False if it cannot be removed any more. */
  takeBack(text: string): boolean;
  line(text: string): void;
  /** A blank line before the next output. */
  gap(): void;
  /** About the client itself, not the conversation. */
  note(text: string): void;
  /** The bottom line, where people type; rendered each time it is drawn. */
  prompt(render: () => string): void;
  /** Drops the line that is being typed. */
  discard(): void;
  close(): void;
}

export interface Keyboard {
  line(line: string): void;
  interrupt(): void;
  end(): void;
}

interface Streams {
  input: Readable;
  output: Writable;
  notes: Writable;
}

export function createPlainScreen({ input, output, notes }: Streams, keyboard: Keyboard): Screen {
  let isMidLine = false;
  const lines = createInterface({ input, terminal: false });
  lines.on('line', (line) => keyboard.line(line));
  lines.on('close', () => keyboard.end());

  function freshLine(): void {
    if (isMidLine) output.write('\n');
    isMidLine = false;
  }
  return {
    text(text) {
      const clean = plain(text);
      if (clean === '') return;
      output.write(clean);
      isMidLine = !clean.endsWith('\n');
    },
    endText: freshLine,
    takeBack: () => false,
    line(text) {
      freshLine();
      output.write(`${withoutStyles(text)}\n`);
    },
    gap: freshLine,
    note: (text) => void notes.write(`${withoutStyles(text)}\n`),
    prompt: () => undefined,
    discard: () => undefined,
    close: () => lines.close(),
  };
}
