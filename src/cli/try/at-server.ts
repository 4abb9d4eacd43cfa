/** What commands that call somebody's server begin and end with: a terminal, the server, and an account there. */
import type { Readable, Writable } from 'node:stream';
import type { Values } from '../command.ts';
import { plain } from '../chat/wording.ts';
import { UsageError } from '../command.ts';
import { openBrowser } from '../login/loopback.ts';
import { exitCodes, TryError } from './exit-codes.ts';
import type { connectionOptions } from './options.ts';
import { readConnection } from './read-connection.ts';
import type { Connection } from './read-connection.ts';
import { accountFiles } from './sign-in/account-file.ts';
import { accountAt } from './sign-in/server-account.ts';
import type { ServerAccount } from './sign-in/server-account.ts';
import { readTarget } from './target.ts';
import type { Target } from './target.ts';
import { createTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';
import { forTerminal } from '../terminal-text.ts';

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

interface AtServer extends Connection {
  target: Target;
  account: ServerAccount | undefined;
  /** Somebody sits at the terminal who can be asked what to do. */
  canPrompt: boolean;
  isJson: boolean;
  terminal: Terminal;
  env: NodeJS.ProcessEnv;
  print(text: string): void;
  signal: AbortSignal;
}

/** Resolves with the exit code, of a `TryError` too. Throws `UsageError`. */
export async function atServer(
  values: Values<typeof connectionOptions> & { json: boolean },
  { words, stdin, stdout, stderr, env, open = openBrowser, signal }: TryInput,
  run: (at: AtServer) => Promise<number>,
): Promise<number> {
  const { json: isJson } = values;
  const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: isJson });
  try {
    const target = readTarget(words);
    const connection = readConnection(values, env);
    return await run({
      target,
      ...connection,
      account: accountAt(target, connection.headers, {
        kept: accountFiles(env),
        clientId: values['client-id'],
        say: terminal.line,
        open,
        signal,
      }),
      canPrompt: stdin.isTTY === true && stderr.isTTY === true && !isJson,
      isJson,
      terminal,
      env,
      print: (text) => void stdout.write(forTerminal(text)),
      signal,
    });
  } catch (error) {
    if (signal.aborted) {
      terminal.line();
      return exitCodes.interrupted;
    }
    // Names of tools and words of servers may be in them.
    if (error instanceof UsageError) throw new UsageError(plain(error.message), { cause: error });
    if (!(error instanceof TryError)) throw error;
    stderr.write(`${plain(error.message)}\n`);
    return error.exitCode;
  } finally {
    terminal.close();
  }
}
