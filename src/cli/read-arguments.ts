/** What follows the name of a command, read by `node:util`'s parser after the command's own table of options. */
import { parseArgs } from 'node:util';
import type { ParseArgsConfig } from 'node:util';
import { didYouMean } from '../config/nearest-spelling.ts';
import type { Command, GivenValues, Options } from './command.ts';
import { UsageError } from './command.ts';

export interface Arguments {
  values: GivenValues;
  args: string[];
  /** Names of the options that were given, in their order. */
  order: string[];
}

/** `null` when help was asked for. Throws `UsageError`. */
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

/** From the first argument on, what is no option of the command belongs to its arguments. */
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
      if (option && option.type !== 'boolean' && value === undefined && next !== undefined) {
        ours[ours.length - 1] = `${word}=${next}`;
        at++;
      }
    } else rest.push(word);
  }
  const { positionals: _none, ...parsed } = parse(options, ours);
  return { ...parsed, positionals: rest };
}

function parse(options: Options, words: string[]): Parsed {
  const known = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, toParsed(option)]));
  try {
    const { values, positionals, tokens } = parseArgs({
      args: words,
      options: { ...known, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      tokens: true,
    });
    const order = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    return { values: values as GivenValues, positionals, order };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(explain(error, [...Object.keys(options), 'help']));
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

function explain({ message }: TypeError, names: string[]): string {
  const unknown = /^Unknown option '(--?[^']*)'/.exec(message)?.[1];
  if (unknown === undefined) return message.split('\n', 1)[0] ?? message;
  return `There is no option ${unknown}${didYouMean(
    unknown,
    names.map((name) => `--${name}`),
  )}.`;
}
