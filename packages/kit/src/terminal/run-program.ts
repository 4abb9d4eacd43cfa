/**
 * The program `interlude`: finds the command, reads its arguments, runs it. Exit codes: 0 done, 1 failed, 2 wrong command line.
 * Imports no command and nothing of the service, so that `--help` starts fast and a process can hide its environment before
 * anything else is loaded.
 */
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { didYouMean } from '@interlude-ai/core/nearest-spelling.ts';
import { GivenFileError, UsageError } from './command.ts';
import type { Command, CommandEntry, GivenValues, Options } from './command.ts';
import { ourCommand, programVersion } from './program-command.ts';
import { cleanConsole, print, printAside } from './terminal-text.ts';

/** Sets the exit code and does not exit: a service goes on after its command has returned. */
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
    const { useProxy } = await import('../../../../src/platform/network/proxy.ts');
    useProxy();
    return (await command.run(given.values, given.args, given.order)) ?? 0;
  } catch (error) {
    if (error instanceof UsageError && !(error instanceof GivenFileError))
      throw new UsageError(`${error.message}\n${usageOf(entry.name, command)}`, { cause: error });
    throw error;
  }
}

function show(text: string): number {
  print(text);
  return 0;
}

type Found =
  | { kind: 'command'; entry: CommandEntry; rest: string[] }
  /** Help for a group. */
  | { kind: 'group'; group: string };

function groupOf({ name }: CommandEntry): string | undefined {
  return name.includes(' ') ? name.split(' ', 1)[0] : undefined;
}

/** `words` has at least one word. Throws `UsageError` when there is no such command. */
export function findCommand(commands: readonly CommandEntry[], words: string[]): Found {
  const [first = '', second] = words;
  const single = commands.find(({ name }) => name === first);
  if (single) return { kind: 'command', entry: single, rest: words.slice(1) };
  const group = commands.filter((entry) => groupOf(entry) === first);
  if (group.length === 0) {
    const known = [...new Set(commands.map((entry) => groupOf(entry) ?? entry.name))];
    throw new UsageError(
      `There is no command "${first}"${didYouMean(first, known)}. ${ourCommand('--help')} lists the commands.`,
    );
  }
  const isWord = second !== undefined && !second.startsWith('-');
  const named = group.find(({ name }) => name === `${first} ${second}`);
  if (named) return { kind: 'command', entry: named, rest: words.slice(2) };
  const names = group.map(({ name }) => name.slice(first.length + 1));
  if (isWord)
    throw new UsageError(
      `There is no command "${first} ${second}"${didYouMean(second, names)}. There is: ${names.join(', ')}.`,
    );
  if (second === '--help' || second === '-h') return { kind: 'group', group: first };
  const usual = group.find(({ isDefault }) => isDefault);
  if (usual && (second !== undefined || usual.isDefault === 'also alone'))
    return { kind: 'command', entry: usual, rest: words.slice(1) };
  throw new UsageError(`Say what to do: ${names.map((name) => ourCommand(`${first} ${name}`)).join(' · ')}`);
}

// The texts of `--help`.

const leastWidth = 26;
const mostInUsage = 8;

function helpForAll(commands: readonly CommandEntry[]): string {
  return [
    'Agent turns that can stop, ask a person, and go on.',
    '',
    `Usage: ${ourCommand('<command> [options]')}`,
    '',
    ...rows(inGroups(commands).map(({ name, summary }) => [name, summary])),
    '',
    `${ourCommand('<command> --help')} shows the arguments and options of a command, ${ourCommand('--version')} the version.`,
    'A service is configured by its environment: docs/configuration.md.',
    '',
  ].join('\n');
}

/** Keeps the commands of a group together, where its first one is. */
function inGroups(commands: readonly CommandEntry[]): CommandEntry[] {
  const placeOf = (entry: CommandEntry) =>
    commands.findIndex((other) => (groupOf(other) ?? other.name) === (groupOf(entry) ?? entry.name));
  return commands.toSorted((one, other) => placeOf(one) - placeOf(other));
}

function helpForGroup(commands: readonly CommandEntry[], group: string): string {
  const members = commands.filter((entry) => groupOf(entry) === group);
  return [
    `Usage: ${ourCommand(`${group} <command> [options]`)}`,
    '',
    ...rows(members.map(({ name, summary }) => [name, summary])),
    '',
  ].join('\n');
}

export function helpFor({ name, summary }: CommandEntry, command: Command): string {
  const options: Options = {
    ...command.options,
    help: { type: 'boolean', description: 'show this text' },
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
          ? `${given.description} (default: ${given.default})`
          : given.description,
      ]),
    ),
    '',
    ...(command.details === undefined ? [] : [command.details, '']),
  ].join('\n');
}

/** One line: `Usage: npx interlude api-keys create --tenant <tenant> [--by <name>]`. */
function usageOf(name: string, command: Command): string {
  const options = Object.entries(command.options).map(([option, given]) => {
    const text = given.type === 'boolean' ? `--${option}` : `--${option} ${given.value}`;
    if (given.type === 'strings') return `[${text}]…`;
    return given.type === 'string' && given.required ? text : `[${text}]`;
  });
  // More than one line of options is not readable.
  const shown = options.length > mostInUsage ? ['[options]'] : options;
  return `Usage: ${ourCommand([name, ...command.arguments, ...shown].join(' '))}`;
}

function rows(lines: [string, string][]): string[] {
  const width = Math.max(leastWidth, ...lines.map(([name]) => name.length + 2));
  return lines.map(([name, text]) => `  ${name.padEnd(width)}${text}`.trimEnd());
}

// Arguments, read by the parser of `node:util` with the command's table of options.

interface Arguments {
  values: GivenValues;
  args: string[];
  /** Names of the given options, in their order. */
  order: string[];
}

/** `null` for help. Throws `UsageError`. */
export function readArguments(command: Command, words: string[]): Arguments | null {
  const { values, positionals, order } = command.rest
    ? parseWithRest(command.options, words)
    : parse(command.options, words);
  if (values['help'] === true) return null;
  for (const [name, option] of Object.entries(command.options))
    if (option.type === 'string' && option.required && values[name] === undefined)
      throw new UsageError(`--${name} ${option.value} is missing.`);
  const missing = command.arguments[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const surplus = command.rest ? undefined : positionals[command.arguments.length];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`);
  return { values, args: positionals, order };
}

interface Parsed {
  values: GivenValues;
  positionals: string[];
  order: string[];
}

/** From the first argument on, unknown options belong to the arguments. */
function parseWithRest(options: Options, words: string[]): Parsed {
  const ours: string[] = [];
  const rest: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    if (word === '--') {
      rest.push(...words.slice(at + 1));
      break;
    }
    const [, name = '', value] = /^--([^=]+)(=.*)?$/s.exec(word) ?? [];
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    const isHelp = rest.length === 0 && (word === '--help' || word === '-h');
    if (option || isHelp || (rest.length === 0 && word.startsWith('-'))) {
      ours.push(word);
      const next = words[at + 1];
      if (option && option.type !== 'boolean' && value === undefined && isValue(next)) {
        ours[ours.length - 1] = `${word}=${next}`;
        at++;
      }
    } else rest.push(word);
  }
  const { positionals: _none, ...parsed } = parse(options, ours);
  return { ...parsed, positionals: rest };
}

/** Otherwise it is the next option. */
function isValue(word: string | undefined): word is string {
  return word !== undefined && (word === '-' || !word.startsWith('-'));
}

const helpOption = { type: 'boolean', short: 'h' } as const;

function parse(options: Options, words: string[]): Parsed {
  const known = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, toParsed(option)]));
  // Not strict, because the parser's own sentences name no value and no near option; `checkOption` does.
  const { values, positionals, tokens } = parseArgs({
    args: words,
    options: { ...known, help: helpOption },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = tokens.filter((token) => token.kind === 'option');
  for (const token of given) checkOption(options, token);
  return { values: values as GivenValues, positionals, order: given.map(({ name }) => name) };
}

interface GivenOption {
  name: string;
  /** As it was written: `--as`, `-h`. */
  rawName: string;
  value?: string | undefined;
  /** Written as `--as=alice`. */
  inlineValue?: boolean | undefined;
}

function checkOption(options: Options, { name, rawName, value, inlineValue }: GivenOption): void {
  const option = Object.hasOwn(options, name) ? options[name] : name === 'help' ? helpOption : undefined;
  if (!option) {
    const names = [...Object.keys(options), 'help'].map((known) => `--${known}`);
    throw new UsageError(`There is no option ${rawName}${didYouMean(rawName, names)}.`);
  }
  if (option.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value.`);
  } else if (value === undefined || value === '' || (inlineValue !== true && !isValue(value))) {
    const hint = value ? ` A value that begins with - is written ${rawName}=…` : '';
    throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value}.${hint}`);
  }
}

function toParsed(option: Options[string]): NonNullable<ParseArgsConfig['options']>[string] {
  switch (option?.type) {
    case 'strings':
      return { type: 'string', multiple: true, default: [] };
    case 'string':
      return { type: 'string', ...(option.default !== undefined && { default: option.default }) };
    case 'boolean':
    case undefined:
      return { type: 'boolean', default: false };
    default:
      return option satisfies never;
  }
}
