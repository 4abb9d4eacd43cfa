/** Where the conversation is written, and the plain way to do it: no control codes, for pipes, files and tests. */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { withoutStyles } from '../terminal-text.ts';
import { plain } from './wording.ts';

export interface Screen {
  /** Text as it streams. */
  text(text: string): void;
  /** What follows the text stands apart from it. */
  endText(): void;
  /** The text that was written last is void. False when it cannot be taken away any more. */
  takeBack(text: string): boolean;
  line(text: string): void;
  /** A blank line before whatever comes next. */
  gap(): void;
  /** About the client itself, not the conversation. */
  note(text: string): void;
  /** The bottom line, where people type; asked for anew whenever it is drawn. */
  prompt(render: () => string): void;
  /** What is being typed is of no use any more. */
  discard(): void;
  close(): void;
}

/** What comes in. */
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
