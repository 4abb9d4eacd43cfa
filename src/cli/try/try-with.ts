/** What the command line of `interlude try` means, and what comes of it: the exit code. */
import type { Readable, Writable } from 'node:stream';
import { UsageError } from '../command.ts';
import type { Values } from '../command.ts';
import { openBrowser } from '../login/loopback.ts';
import { readSources } from './answer-sources.ts';
import { readCassetteFile } from './cassette-file.ts';
import type { tryOptions } from './options.ts';
import { readConnection } from './read-connection.ts';
import { TryError } from './exit-codes.ts';
import { runTry } from './run-try.ts';
import { accountFiles } from './sign-in/account-file.ts';
import { accountAt } from './sign-in/server-account.ts';
import { readTarget } from './target.ts';
import { createTerminal } from './terminal.ts';

export interface TryInput {
  words: string[];
  /** Names of the options, in the order of the command line. */
  order: string[];
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
  /** Shows a page to whoever sits here. */
  open?: (url: string) => void;
  signal: AbortSignal;
}

/** Throws `UsageError`. */
export async function tryWith(values: Values<typeof tryOptions>, input: TryInput): Promise<number> {
  const { tool, args, json } = values;
  const { words, order, stdin, stdout, stderr, env, open = openBrowser, signal } = input;
  const canPrompt = stdin.isTTY === true && stderr.isTTY === true && !json;
  const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: json });
  try {
    const target = readTarget(words);
    const sources = await readSources({ ...values, order }, { terminal, canPrompt });
    const connection = readConnection(values, env);
    return await runTry({
      target,
      tool,
      args,
      ...connection,
      account: accountAt(target, connection.headers, {
        kept: accountFiles(env),
        clientId: values['client-id'],
        say: terminal.line,
        open,
      }),
      sources,
      maxRounds: readCount(values['max-rounds']),
      isJson: json,
      canPrompt,
      record: values.record,
      replay: values.replay === undefined ? undefined : await readCassetteFile(values.replay),
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

function readCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 0) throw new UsageError(`--max-rounds ${text} is no whole number.`);
  return count;
}
