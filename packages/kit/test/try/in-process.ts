/** `interlude try` and `interlude lint-server` without a process of their own: the same command lines, and what they wrote. */
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { lintServer, tryServer } from '../../src/commands/try.ts';

export interface TryEnd {
  code: number;
  output: string;
  errors: string;
}

interface TrySurroundings {
  isTerminal?: boolean;
  /** At a terminal: the keys that are pressed once these words are shown. */
  dialogue?: [shown: string, keys: string][];
  open?: (url: string) => void;
  /** Of a terminal whose input does not end. */
  signal?: AbortSignal;
  /** All that was written so far, on either stream. */
  onOutput?: (text: string) => void;
}

/** `typed`: the lines that a person types. Rejects with the error of a wrong command line. */
export async function runTryCommand(
  words: string[],
  typed?: string[],
  env: NodeJS.ProcessEnv = {},
  { dialogue, isTerminal = dialogue !== undefined, open, signal, onOutput }: TrySurroundings = {},
): Promise<TryEnd> {
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = new PassThrough();
  if (isTerminal) for (const stream of [stdin, stderr]) Object.assign(stream, { isTTY: true });
  Object.assign(stdin, { setRawMode: () => stdin });
  let seen = 0;
  stderr.on('data', () => {
    const [shown, keys = ''] = dialogue?.[0] ?? [];
    if (shown === undefined || !stripVTControlCharacters(stderr.text.slice(seen)).includes(shown)) return;
    dialogue?.shift();
    seen = stderr.text.length;
    // After the prompt has drawn itself.
    setImmediate(() => stdin.write(keys));
  });
  for (const stream of [stdout, stderr]) stream.on('data', () => onOutput?.(stdout.text + stderr.text));
  for (const line of typed ?? []) stdin.write(`${line}\n`);
  if (!signal && !dialogue) stdin.end();
  const end: TryEnd = { code: 0, output: '', errors: '' };
  const command = tryServer(() => ({
    stdin,
    stdout,
    stderr,
    env,
    ...(open && { open }),
    signal: signal ?? new AbortController().signal,
    end: (code) => void (end.code = code),
  }));
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  await command.parseAsync(words, { from: 'user' });
  return { ...end, output: stdout.text, errors: stderr.text };
}

/** Rejects with the error of a wrong command line. */
export async function runLintCommand(words: string[], env: NodeJS.ProcessEnv = {}): Promise<TryEnd> {
  const [stdin, stdout, stderr] = [new PassThrough(), new Collected(), new Collected()];
  stdin.end();
  let code = 0;
  const command = lintServer(() => ({
    stdin,
    stdout,
    stderr,
    env,
    signal: new AbortController().signal,
    end: (ended) => void (code = ended),
  }));
  command.exitOverride().configureOutput({ writeErr: () => undefined });
  await command.parseAsync(words, { from: 'user' });
  return { code, output: stdout.text, errors: stderr.text };
}

class Collected extends PassThrough {
  text = '';
  constructor() {
    super();
    this.setEncoding('utf8').on('data', (text: string) => (this.text += text));
  }
}
