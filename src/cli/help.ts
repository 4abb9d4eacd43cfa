/** The texts of `--help`. */
import type { Command, CommandEntry, Options } from './command.ts';
import { groupOf } from './find-command.ts';

const leastWidth = 26;
const mostInUsage = 8;

export function helpForAll(commands: readonly CommandEntry[]): string {
  return [
    'Agent turns that can stop, ask a person, and go on.',
    '',
    'Usage: interlude <command> [options]',
    '',
    ...rows(inGroups(commands).map(({ name, summary }) => [name, summary])),
    '',
    '`interlude <command> --help` says what a command can be given, `interlude --version` which version this is.',
    'A service is configured by its environment: docs/configuration.md.',
    '',
  ].join('\n');
}

/** The commands of a group stand together, where its first one stands, whatever they come from. */
function inGroups(commands: readonly CommandEntry[]): CommandEntry[] {
  const placeOf = (entry: CommandEntry) =>
    commands.findIndex((other) => (groupOf(other) ?? other.name) === (groupOf(entry) ?? entry.name));
  return commands.toSorted((one, other) => placeOf(one) - placeOf(other));
}

export function helpForGroup(commands: readonly CommandEntry[], group: string): string {
  const members = commands.filter((entry) => groupOf(entry) === group);
  return [
    `Usage: interlude ${group} <command> [options]`,
    '',
    ...rows(members.map(({ name, summary }) => [name, summary])),
    '',
  ].join('\n');
}

export function helpFor({ name, summary }: CommandEntry, command: Command): string {
  const options: Options = {
    ...command.options,
    help: { type: 'boolean', description: 'this text' },
  };
  return [
    summary,
    '',
    usageOf(name, command),
    '',
    ...rows(
      Object.entries(options).map(([option, given]) => [
        given.type === 'boolean' ? `--${option}` : `--${option} ${given.value}`,
        given.type === 'string' && given.default !== undefined
          ? `${given.description} (${given.default})`
          : given.description,
      ]),
    ),
    '',
    ...(command.details === undefined ? [] : [command.details, '']),
  ].join('\n');
}

/** One line: `Usage: interlude api-keys create --tenant <tenant> [--by <name>]`. */
export function usageOf(name: string, command: Command): string {
  const options = Object.entries(command.options).map(([option, given]) => {
    const text = given.type === 'boolean' ? `--${option}` : `--${option} ${given.value}`;
    if (given.type === 'strings') return `[${text}]…`;
    return given.type === 'string' && given.required ? text : `[${text}]`;
  });
  // More than a line of them helps nobody.
  const shown = options.length > mostInUsage ? ['[options]'] : options;
  return `Usage: ${['interlude', name, ...command.arguments, ...shown].join(' ')}`;
}

function rows(lines: [string, string][]): string[] {
  const width = Math.max(leastWidth, ...lines.map(([name]) => name.length + 2));
  return lines.map(([name, text]) => `  ${name.padEnd(width)}${text}`.trimEnd());
}
