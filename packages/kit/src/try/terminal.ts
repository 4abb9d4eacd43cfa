/**
 * Where `interlude try` prints its progress and reads answers. Results are printed elsewhere, so that they can be
 * piped.
 */
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { forTerminal, withoutStyles } from '../terminal/terminal-text.ts';

export interface Terminal {
  /** The output is a terminal: status lines can be overwritten. */
  isInteractive: boolean;
  /** The input is typed by a person. */
  isTyped: boolean;
  line(text?: string): void;
  /** A status line, replaced by the next one. Nothing without a terminal. */
  status(text: string): void;
  /** Null when the input has ended. Rejects when `signal` aborts. */
  ask(prompt: string, signal?: AbortSignal): Promise<string | null>;
  close(): void;
}

export interface TerminalStreams {
  input: Readable & { isTTY?: boolean };
  output: Writable & { isTTY?: boolean; columns?: number };
  /** Prints only the questions. */
  isQuiet?: boolean;
}

export function createTerminal({ input, output, isQuiet = false }: TerminalStreams): Terminal {
  const isInteractive = output.isTTY === true;
  let hasStatus = false;
  let lines: AsyncIterator<string> | undefined;
  let reader: ReturnType<typeof createInterface> | undefined;
  const clean = isInteractive ? forTerminal : withoutStyles;
  const write = (text: string) => output.write(clean(text));
  const openReader = () => {
    const opened = createInterface({ input, output, terminal: input.isTTY === true && isInteractive });
    // Readline takes Ctrl+C for itself.
    opened.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    return opened;
  };
  const clearStatus = () => {
    if (hasStatus) output.write('\r\u001B[K');
    hasStatus = false;
  };
  return {
    isInteractive,
    isTyped: input.isTTY === true,
    line(text = '') {
      if (isQuiet) return;
      clearStatus();
      write(`${text}\n`);
    },
    status(text) {
      if (!isInteractive || isQuiet) return;
      clearStatus();
      const width = (output.columns ?? 80) - 1;
      output.write(withoutStyles(text).slice(0, width));
      hasStatus = true;
    },
    async ask(prompt, signal) {
      signal?.throwIfAborted();
      clearStatus();
      reader ??= openReader();
      lines ??= reader[Symbol.asyncIterator]();
      const over = Promise.withResolvers<never>();
      const stop = () => over.reject(signal?.reason as Error);
      signal?.addEventListener('abort', stop);
      try {
        if (input.isTTY && isInteractive) {
          reader.setPrompt(clean(prompt));
          reader.prompt();
        } else write(prompt);
        const { done, value } = await Promise.race([lines.next(), over.promise]);
        if (!input.isTTY) write('\n');
        return done === true ? null : value;
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    },
    close() {
      clearStatus();
      reader?.close();
    },
  };
}
