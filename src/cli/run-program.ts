/**
 * The program `interlude`: finds the command, reads what is given to it, runs it. Exit codes: 0 done, 1 failed, 2 the command
 * line is wrong. Imports no command and nothing of the service, so that `--help` starts fast and a process that hides its
 * environment does so before anything else is loaded.
 */
import type { CommandEntry } from './command.ts';
import { UsageError } from './command.ts';
import { findCommand } from './find-command.ts';
import { helpFor, helpForAll, helpForGroup, usageOf } from './help.ts';
import { programVersion } from './program-version.ts';
import { readArguments } from './read-arguments.ts';
import { cleanConsole, print, printAside } from './terminal-text.ts';

/** Sets the exit code, and leaves the process to end by itself: a service goes on after its command has returned. */
export async function runProgram(commands: readonly CommandEntry[], words: string[]): Promise<void> {
  cleanConsole();
  try {
    process.exitCode = await run(commands, words);
  } catch (error) {
    printAside(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

async function run(commands: readonly CommandEntry[], words: string[]): Promise<number> {
  const [first] = words;
  if (first === undefined) throw new UsageError(helpForAll(commands).trimEnd());
  if (first === '--help' || first === '-h' || first === 'help') return show(helpForAll(commands));
  if (first === '--version' || first === '-v' || first === 'version') return show(`${programVersion()}\n`);
  const found = findCommand(commands, words);
  if (found.kind === 'group') return show(helpForGroup(commands, found.group));
  const { entry, rest } = found;
  const command = await entry.load();
  try {
    const given = readArguments(command, rest);
    if (given === null) return show(helpFor(entry, command));
    return (await command.run(given.values, given.args, given.order)) ?? 0;
  } catch (error) {
    if (error instanceof UsageError)
      throw new UsageError(`${error.message}\n${usageOf(entry.name, command)}`, { cause: error });
    throw error;
  }
}

function show(text: string): number {
  print(text);
  return 0;
}
