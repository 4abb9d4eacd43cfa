/** A program of ours: commander reads its command line and runs a command. Exit codes: 0 done, 1 failed, 2 wrong command line. */
import completion from '@bomb.sh/tab/commander';
import { Command } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { CommanderError } from 'commander';
import type { Command as PlainCommand } from 'commander';
import { useProxy } from '@interlude-ai/core/proxy.ts';
import { UsageError } from './command.ts';
import { programCommand, programVersion } from './program-command.ts';
import { cleanConsole, print, printAside } from './terminal-text.ts';

export interface Program {
  /** As it is installed; messages name it as it is started here. */
  name: string;
  description: string;
  commands: CommandUnknownOpts[];
  /** Below the list of commands. */
  notes?: string;
}

/** Sets the exit code and does not exit: a service goes on after its command has returned. */
export async function runProgram(given: Program, words: string[]): Promise<void> {
  cleanConsole();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // What reads it needs no more, as `head` does. Other programs end then, too.
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  try {
    useProxy();
    await createProgram(given, words).parseAsync(words, { from: 'user' });
  } catch (error) {
    // Commander has printed its own errors.
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else {
      const isUsage = error instanceof UsageError;
      const message = error instanceof Error ? error.message : String(error);
      printAside(`${isUsage ? 'error: ' : ''}${message}\n`);
      process.exitCode = isUsage ? 2 : 1;
    }
  }
}

/** `words`: the command line that it will read. */
export function createProgram(
  { name, description, commands, notes }: Program,
  words: string[] = [],
): CommandUnknownOpts {
  const program = new Command(name)
    .description(description)
    .version(programVersion(), '-v, --version', 'show the version')
    .enablePositionalOptions();
  if (notes !== undefined) program.addHelpText('after', `\n${notes}`);
  program.command('version', { hidden: true }).action(() => print(`${programVersion()}\n`));
  for (const command of commands) program.addCommand(command);
  // Its scripts call the program by its name.
  completion(program as unknown as PlainCommand, { completionCommandName: 'completion' });
  program.name(programCommand());
  for (const command of withMembers(program)) prepare(command, words);
  return program;
}

function withMembers(command: CommandUnknownOpts): CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap(withMembers)];
}

function pathOf(command: CommandUnknownOpts): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function prepare(command: CommandUnknownOpts, words: readonly string[]): void {
  command
    .exitOverride()
    .showHelpAfterError(`(${pathOf(command)} --help shows how it is used)`)
    .configureOutput({
      writeOut: print,
      writeErr: printAside,
      // The value of a misspelt option may be a secret, and so may an argument too many or a word that is no command:
      // keys are read from stdin.
      outputError: (text, write) =>
        write(
          text
            .replace(/('--?[^='\n]+=)[^]*'(?=\n)/, "$1…'")
            .replace(/(unknown command ')(?![a-z-]{1,20}')[^]*'/i, "$1…'")
            .replace(/(Expected \d+ arguments? but got \d+): [^]*/, '$1.\n'),
        ),
    });
  for (const option of command.options.filter(({ required }) => required))
    command.on(`option:${option.name()}`, (value: string) => {
      // Commander takes the next option, or an empty word, for the value.
      const isOption = value.startsWith('-') && value !== '-' && !words.includes(`${option.long}=${value}`);
      if (value === '' || isOption) command.error(`error: option '${option.flags}' argument missing`);
    });
}
