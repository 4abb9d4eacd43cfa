/** `interlude try` and `interlude lint-server` without a process of their own: the same command lines, and what they wrote. */
import { PassThrough } from 'node:stream';
import { readArguments } from '../../src/terminal/run-program.ts';
import { lintServer, tryServer } from '../../src/commands/try.ts';
import { lintWith } from '../../src/lint/run-lint.ts';
import { tryWith } from '../../src/try/run-try.ts';

export interface TryEnd {
  code: number;
  output: string;
  errors: string;
}

interface TrySurroundings {
  isTerminal?: boolean;
  open?: (url: string) => void;
  /** Of a terminal whose input does not end. */
  signal?: AbortSignal;
  /** All that was written so far, on either stream. */
  onOutput?: (text: string) => void;
}

/** `typed`: the lines that a person types. Rejects with the `UsageError` of a wrong command line. */
export async function runTryCommand(
  words: string[],
  typed?: string[],
  env: NodeJS.ProcessEnv = {},
  { isTerminal = false, open, signal, onOutput }: TrySurroundings = {},
): Promise<TryEnd> {
  const given = readArguments(tryServer, words);
  if (!given) throw new Error('help was asked for');
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = new PassThrough();
  if (isTerminal) for (const stream of [stdin, stderr]) Object.assign(stream, { isTTY: true });
  for (const stream of [stdout, stderr]) stream.on('data', () => onOutput?.(stdout.text + stderr.text));
  for (const line of typed ?? []) stdin.write(`${line}\n`);
  if (!signal) stdin.end();
  const code = await tryWith(given.values as unknown as Parameters<typeof tryWith>[0], {
    words: given.args,
    order: given.order,
    stdin,
    stdout,
    stderr,
    env,
    ...(open && { open }),
    signal: signal ?? new AbortController().signal,
  });
  return { code, output: stdout.text, errors: stderr.text };
}

/** Rejects with the `UsageError` of a wrong command line. */
export async function runLintCommand(words: string[], env: NodeJS.ProcessEnv = {}): Promise<TryEnd> {
  const given = readArguments(lintServer, words);
  if (!given) throw new Error('help was asked for');
  const [stdin, stdout, stderr] = [new PassThrough(), new Collected(), new Collected()];
  stdin.end();
  const code = await lintWith(given.values as unknown as Parameters<typeof lintWith>[0], {
    words: given.args,
    order: given.order,
    stdin,
    stdout,
    stderr,
    env,
    signal: new AbortController().signal,
  });
  return { code, output: stdout.text, errors: stderr.text };
}

class Collected extends PassThrough {
  text = '';
  constructor() {
    super();
    this.setEncoding('utf8').on('data', (text: string) => (this.text += text));
  }
}
