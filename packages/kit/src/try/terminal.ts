/**
 * Where `interlude try` prints its progress and reads answers. Results are printed elsewhere, so that they can be
 * piped.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { forTerminal, withoutStyles } from '../terminal/terminal-text.ts';
import { abortable } from './exit-codes.ts';

export interface Terminal {
  input: Readable;
  output: Writable;
  /** The output is a terminal: status lines can be overwritten. */
  isInteractive: boolean;
  /** The input is typed by a person. */
  isTyped: boolean;
  /** Both: a person can be shown prompts. */
  isTerminal: boolean;
  line(text?: string): void;
  /** A status line, replaced by the next one. Nothing without a terminal. */
  status(text: string): void;
  /** A line of a pipe; null when it has ended. Rejects when `signal` aborts. */
  ask(prompt: string, signal: AbortSignal): Promise<string | null>;
  close(): void;
}

interface TerminalStreams {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean; columns?: number; rows?: number };
  /** Prints only the questions. */
  isQuiet?: boolean;
}

export function createTerminal({ input, output, isQuiet = false }: TerminalStreams): Terminal {
  const isInteractive = output.isTTY === true;
  const isTyped = input.isTTY === true;
  // Some pseudo-terminals have no size, and prompts would be wrapped to nothing.
  if (output.columns === 0) Object.assign(output, { columns: 80, rows: 24 });
  let hasStatus = false;
  let lines: AsyncIterator<string> | undefined;
  let reader: ReturnType<typeof createInterface> | undefined;
  const clean = isInteractive ? forTerminal : withoutStyles;
  const clearStatus = () => {
    if (hasStatus) output.write('\r\u001B[K');
    hasStatus = false;
  };
  return {
    input,
    output,
    isInteractive,
    isTyped,
    isTerminal: isTyped && isInteractive,
    line(text = '') {
      if (isQuiet) return;
      clearStatus();
      output.write(clean(`${text}\n`));
    },
    status(text) {
      if (!isInteractive || isQuiet) return;
      clearStatus();
      output.write(withoutStyles(text).slice(0, (output.columns ?? 80) - 1));
      hasStatus = text !== '';
    },
    async ask(prompt, signal) {
      clearStatus();
      reader ??= createInterface({ input, terminal: false });
      lines ??= reader[Symbol.asyncIterator]();
      output.write(clean(prompt));
      const { done, value } = await abortable(lines.next(), signal);
      if (!isTyped) output.write('\n');
      return done === true ? null : value;
    },
    close() {
      clearStatus();
      reader?.close();
    },
  };
}
