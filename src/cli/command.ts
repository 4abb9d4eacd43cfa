/** What one command of the program `interlude` is: what may be given to it, and what it does. */

/** An option without a value, like `--dry-run`. */
export interface Flag {
  type: 'boolean';
  description: string;
}

/** An option with a value, like `--as <user>`. `value` names the value in help texts. */
export interface Setting {
  type: 'string';
  value: string;
  description: string;
  default?: string;
  required?: true;
}

export type Options = Record<string, Flag | Setting>;

export type Values<Given extends Options> = {
  [Name in keyof Given]: Given[Name] extends Flag
    ? boolean
    : Given[Name] extends { default: string } | { required: true }
      ? string
      : string | undefined;
};

export interface Command {
  /** Names of the arguments in help texts; every one is required. */
  arguments: string[];
  options: Options;
  /** Paragraphs below the usage, for `--help`. */
  details?: string;
  /** The exit code; nothing is 0, once the process ends by itself. Throws `UsageError` for what only it can check. */
  run(values: Record<string, string | boolean | undefined>, args: string[]): Promise<number | void>;
}

/** Types `values` after the options. */
export function defineCommand<const Given extends Options>(
  command: Omit<Command, 'options' | 'run'> & {
    options: Given;
    run(values: Values<Given>, args: string[]): Promise<number | void>;
  },
): Command {
  return command as unknown as Command;
}

/** A line in the list of commands. The command itself is loaded when it is asked for, so that `--help` starts fast. */
export interface CommandEntry {
  /** One word, or a group and a word: `chat`, `api-keys list`. */
  name: string;
  summary: string;
  /** In a group: what is meant when none of its commands is named. */
  isDefault?: true;
  load(): Promise<Command>;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
