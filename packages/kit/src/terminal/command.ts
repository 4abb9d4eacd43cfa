/** What the definitions of commands share. They load their work when they run, so that help and completion are quick. */
import { Command, InvalidArgumentError } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';

/** The command line, or a file that it names, is wrong: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Commands with a common first word. `usual`: the one that is meant when only the group is named. */
export function group(
  name: string,
  description: string,
  members: CommandUnknownOpts[],
  usual?: string,
): CommandUnknownOpts {
  const commands = new Command(name).description(description);
  for (const member of members) commands.addCommand(member, { isDefault: member.name() === usual });
  // Commander would take a misspelt name for an argument of the usual command.
  commands.hook('preSubcommand', ({ args: [word = '-'] }, member) => {
    const names = members.map((one) => one.name());
    if (word !== member.name() && !word.startsWith('-'))
      commands.error(`error: unknown command '${word}'${didYouMean(word, names)}`);
  });
  return commands;
}

// Readers of values, for `option(flags, description, reader)`.

/** An option that may be repeated. */
export function repeated(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** In milliseconds. */
export function duration(text: string): number {
  try {
    return readDuration(text as Duration);
  } catch {
    throw new InvalidArgumentError('Write for example 90s.');
  }
}

export function port(text: string): number {
  if (!/^\d+$/.test(text) || Number(text) > 65_535) throw new InvalidArgumentError('It is not a port.');
  return Number(text);
}

export function count(text: string): number {
  if (!/^\d{1,5}$/.test(text)) throw new InvalidArgumentError('Write a number up to 99999.');
  return Number(text);
}
