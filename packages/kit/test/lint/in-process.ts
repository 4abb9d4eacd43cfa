/** `interlude lint-server` without a process of its own. */
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { lintServer } from '../../src/commands/try.ts';
import { lintWith } from '../../src/lint/run-lint.ts';
import { readArguments } from '../../src/terminal/run-program.ts';

export interface LintEnd {
  code: number;
  output: string;
  errors: string;
}

/** Rejects with the `UsageError` of a wrong command line. */
export async function runLintCommand(words: string[], env: NodeJS.ProcessEnv = {}): Promise<LintEnd> {
  const given = readArguments(lintServer, words);
  if (!given) throw new Error('help was asked for');
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const written = Promise.all([text(stdout), text(stderr)]);
  stdin.end();
  try {
    const code = await lintWith(given.values as unknown as Parameters<typeof lintWith>[0], {
      words: given.args,
      order: given.order,
      stdin,
      stdout,
      stderr,
      env,
      signal: new AbortController().signal,
    });
    stdout.end();
    stderr.end();
    const [output, errors] = await written;
    return { code, output, errors };
  } finally {
    stdout.end();
    stderr.end();
  }
}
