/** The terminal client as a process of its own, with its input and output piped. */
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const script = fileURLToPath(new URL('../../../../src/cli/checkout.ts', import.meta.url));

export interface Chat {
  type(line: string): void;
  endInput(): void;
  interrupt(): void;
  output(): string;
  notes(): string;
  /** Waits until the text has been printed. */
  sees(text: string): Promise<void>;
  ended: Promise<number | null>;
}

export function startChat(args: string[], env: NodeJS.ProcessEnv = {}): Chat {
  const child = spawn(process.execPath, [script, 'chat', ...args], { env: { ...process.env, ...env } });
  onTestFinished(() => void child.kill());
  return readChat(child);
}

function readChat(child: ChildProcessByStdio<Writable, Readable, Readable>): Chat {
  const texts = { output: '', notes: '' };
  const waiting = new Set<() => void>();
  const read = (stream: Readable, name: 'output' | 'notes') =>
    stream.setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      for (const look of waiting) look();
    });
  read(child.stdout, 'output');
  read(child.stderr, 'notes');
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    type: (line) => void child.stdin.write(`${line}\n`),
    endInput: () => child.stdin.end(),
    interrupt: () => void child.kill('SIGINT'),
    output: () => texts.output,
    notes: () => texts.notes,
    sees: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!`${texts.output}${texts.notes}`.includes(text)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
        void ended.then(() => reject(new Error(`It ended without "${text}": ${texts.output}${texts.notes}`)));
      }),
    ended,
  };
}
