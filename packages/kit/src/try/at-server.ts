/** The frame of commands that call an MCP server: a terminal, the server, and an account there. */
import type { Readable, Writable } from 'node:stream';
import { UsageError } from '../terminal/command.ts';
import { openBrowser } from '../terminal/loopback.ts';
import { forTerminal, plain } from '../terminal/terminal-text.ts';
import { exitCodes, TryError } from './exit-codes.ts';
import { readConnection, readTarget } from './read-connection.ts';
import type { Connection, ConnectionValues, Target } from './read-connection.ts';
import { accountAt, accountFiles } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';
import { createTerminal } from './terminal.ts';
import type { Terminal } from './terminal.ts';

/** What a command at a server reads, and where it writes. */
export interface Surroundings {
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean; columns?: number };
  env: NodeJS.ProcessEnv;
  /** Opens a page in the person's browser. */
  open?: (url: string) => void;
  signal: AbortSignal;
  /** The exit code. */
  end(code: number): void;
}

export interface AtServer extends Connection {
  target: Target;
  account: ServerAccount | undefined;
  /** A person at the terminal can be asked for answers, a tool and its arguments, or to sign in. */
  canPrompt: boolean;
  isJson: boolean;
  terminal: Terminal;
  env: NodeJS.ProcessEnv;
  /** Output that can be piped: the list, the result, the JSON. */
  print(text: string): void;
  signal: AbortSignal;
}

/** Resolves with the exit code, of a `TryError` too. Throws `UsageError`. */
export async function atServer(
  words: readonly string[],
  values: ConnectionValues,
  { stdin, stdout, stderr, env, open = openBrowser, signal }: Surroundings,
  run: (at: AtServer) => Promise<number>,
): Promise<number> {
  const { json: isJson = false } = values;
  const terminal = createTerminal({ input: stdin, output: stderr, isQuiet: isJson });
  try {
    const target = readTarget(words);
    const connection = readConnection(values, env);
    return await run({
      target,
      ...connection,
      account: accountAt(target, connection.headers, {
        kept: accountFiles(env),
        clientId: values.clientId,
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
    // The message may contain names of tools and text of servers.
    if (error instanceof UsageError) throw new UsageError(plain(error.message), { cause: error });
    if (!(error instanceof TryError)) throw error;
    stderr.write(`${plain(error.message)}\n`);
    return error.exitCode;
  } finally {
    terminal.close();
  }
}
