/** `interlude try` without a process of its own: the same command line, and what it wrote. */
import { PassThrough } from 'node:stream';
import { readArguments } from '../../../src/cli/read-arguments.ts';
import { tryServer } from '../../../src/cli/commands/try.ts';
import { tryWith } from '../../../src/cli/try/try-with.ts';

export interface TryEnd {
  code: number;
  output: string;
  errors: string;
}

/** `typed`: the lines of somebody at the terminal. Rejects with the `UsageError` of a wrong command line. */
export async function runTryCommand(
  words: string[],
  typed?: string[],
  env: NodeJS.ProcessEnv = {},
  { isTerminal = false, open }: { isTerminal?: boolean; open?: (url: string) => void } = {},
): Promise<TryEnd> {
  const given = readArguments(tryServer, words);
  if (!given) throw new Error('help was asked for');
  const [stdout, stderr] = [new Collected(), new Collected()];
  const stdin = new PassThrough();
  if (isTerminal) for (const stream of [stdin, stderr]) Object.assign(stream, { isTTY: true });
  stdin.end((typed ?? []).map((line) => `${line}\n`).join(''));
  const code = await tryWith(given.values as unknown as Parameters<typeof tryWith>[0], {
    words: given.args,
    order: given.order,
    stdin,
    stdout,
    stderr,
    env,
    ...(open && { open }),
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
