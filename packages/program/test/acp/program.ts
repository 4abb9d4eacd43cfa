/** `interlude acp` as the process that an editor starts, spoken to line by line. */
import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { bareEnvironment } from '../../../../test/bare-environment.ts';

export const script = path.resolve(import.meta.dirname, '../../../../src/cli/checkout.ts');

export interface Line {
  jsonrpc?: unknown;
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

export interface Program {
  child: ChildProcessWithoutNullStreams;
  /** Everything that came on stdout, line by line. */
  lines: Line[];
  errors(): string;
  /** As it is. */
  write(text: string): void;
  /** A request, until it is answered. */
  ask(method: string, params?: object, id?: number | string): Promise<Line>;
  until(holds: (line: Line) => boolean): Promise<Line>;
  /** Closes its input. */
  end(): Promise<number | null>;
}

export function startProgram(words: string[], env: Record<string, string> = {}): Program {
  const child = spawn(process.execPath, [script, 'acp', ...words], { env: { ...bareEnvironment(), ...env } });
  const lines: Line[] = [];
  let errors = '';
  let wake = Promise.withResolvers<void>();
  const changed = () => {
    wake.resolve();
    wake = Promise.withResolvers();
  };
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  createInterface({ input: child.stdout }).on('line', (line) => {
    // A line that is no JSON fails the test that looks at it.
    lines.push(toLine(line));
    changed();
  });
  const over = new Promise<number | null>((resolve) =>
    child.once('close', (code) => {
      resolve(code);
      changed();
    }),
  );
  let next = 1;
  const write = (text: string) => void child.stdin.write(`${text}\n`);
  const until = async (holds: (line: Line) => boolean) => {
    for (let seen = 0; ; await wake.promise)
      for (; seen < lines.length; seen++) {
        const line = lines[seen];
        if (line && holds(line)) return line;
      }
  };
  return {
    child,
    lines,
    errors: () => errors,
    write,
    until,
    ask(method, params = {}, id = next++) {
      write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return until((line) => line.id === id && line.method === undefined);
    },
    end() {
      child.stdin.end();
      return over;
    },
  };
}

function toLine(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch {
    return { jsonrpc: `no JSON: ${text}` };
  }
}
