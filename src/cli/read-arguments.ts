/** What follows the name of a command, read by `node:util`'s parser after the command's own table of options. */
import { parseArgs } from 'node:util';
import { didYouMean } from '../config/nearest-spelling.ts';
import type { Command, Options } from './command.ts';
import { UsageError } from './command.ts';

export interface Arguments {
  values: Record<string, string | boolean | undefined>;
  args: string[];
}

/** `null` when help was asked for. Throws `UsageError`. */
export function readArguments(command: Command, words: string[]): Arguments | null {
  const { values, positionals } = parse(command.options, words);
  if (values['help'] === true) return null;
  for (const [name, option] of Object.entries(command.options))
    if (option.type === 'string' && option.required && values[name] === undefined)
      throw new UsageError(`--${name} ${option.value} is missing.`);
  const missing = command.arguments[positionals.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const surplus = positionals[command.arguments.length];
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`);
  return { values, args: positionals };
}

function parse(options: Options, words: string[]) {
  const known = Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      option.type === 'string' && option.default !== undefined
        ? { type: option.type, default: option.default }
        : { type: option.type, ...(option.type === 'boolean' && { default: false }) },
    ]),
  );
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: { ...known, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    return { values: values as Arguments['values'], positionals };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(explain(error, [...Object.keys(options), 'help']));
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
