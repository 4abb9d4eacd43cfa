/** What the command line of `interlude lint-server` means, and what comes of it: the exit code. */
import type { Values } from '../command.ts';
import { openBrowser } from '../login/loopback.ts';
import { readSources } from '../try/answer-sources.ts';
import { readConnection } from '../try/read-connection.ts';
import { TryError } from '../try/exit-codes.ts';
import { accountFiles } from '../try/sign-in/account-file.ts';
import { accountAt } from '../try/sign-in/server-account.ts';
import { readTarget } from '../try/target.ts';
import { createTerminal } from '../try/terminal.ts';
import type { TryInput } from '../try/try-with.ts';
import type { lintOptions } from './options.ts';
import { readCallsFile } from './calls-file.ts';
import { runLint } from './run-lint.ts';

const maxRounds = 5;

/** Throws `UsageError`. */
export async function lintWith(values: Values<typeof lintOptions>, input: TryInput): Promise<number> {
  const { calls, tool, all, strict, json } = values;
  const { words, order, stdin, stdout, stderr, env, open = openBrowser, signal } = input;
  const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: json });
  try {
    const target = readTarget(words);
    const connection = readConnection(values, env);
    return await runLint({
      target,
      calls: calls === undefined ? new Map() : await readCallsFile(calls),
      named: tool,
      all,
      ...connection,
      account: accountAt(target, connection.headers, {
        kept: accountFiles(env),
        clientId: values['client-id'],
        say: terminal.line,
        open,
      }),
      canSignIn: stdin.isTTY === true && stderr.isTTY === true && !json,
      sources: await readSources({ ...values, order }, { terminal, canPrompt: false }),
      maxRounds,
      isStrict: strict,
      isJson: json,
      terminal,
      env,
      print: (text) => stdout.write(text),
      signal,
    });
  } catch (error) {
    if (!(error instanceof TryError)) throw error;
    stderr.write(`${error.message}\n`);
    return error.exitCode;
  } finally {
    terminal.close();
  }
}
