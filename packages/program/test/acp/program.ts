/** `interlude acp` as the process that an editor starts, spoken to line by line. */
import { createInterface } from 'node:readline';
import { bareEnvironment } from '../../../../test/bare-environment.ts';
import { startProgram as start } from '../../../../test/programs/running-program.ts';
import { createWaiting } from '../../../../test/waiting.ts';
import { script } from '../../../../test/cli/start-command.ts';

export interface Line {
  jsonrpc?: unknown;
  id?: unknown;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string; data?: unknown };
}

export type Program = ReturnType<typeof startProgram>;

export function startProgram(words: string[], env: Record<string, string> = {}) {
  const { child, written, ended } = start(process.execPath, [script, 'acp', ...words], {
    env: { ...bareEnvironment(), ...env },
  });
  const lines: Line[] = [];
  const waiting = createWaiting();
  createInterface({ input: child.stdout }).on('line', (line) => {
    // A line that is no JSON fails the test that looks at it.
    lines.push(toLine(line));
    waiting.wake();
  });
  let next = 1;
  const write = (text: string) => void child.stdin.write(`${text}\n`);
  const until = (holds: (line: Line) => boolean) => waiting.until(() => lines.find(holds));
  return {
    child,
    /** Everything that came on stdout, line by line. */
    lines,
    errors: () => written.stderr,
    /** As it is. */
    write,
    until,
    /** A request, until it is answered. */
    ask(method: string, params: object = {}, id: number | string = next++): Promise<Line> {
      write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return until((line) => line.id === id && line.method === undefined);
    },
    /** Closes its input. */
    async end(): Promise<number | null> {
      child.stdin.end();
      return (await ended).code;
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
