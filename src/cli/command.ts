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

/** An option that may be given any number of times. */
export interface Repeated {
  type: 'strings';
  value: string;
  description: string;
}

export type Options = Record<string, Flag | Setting | Repeated>;

export type Values<Given extends Options> = {
  [Name in keyof Given]: Given[Name] extends Flag
    ? boolean
    : Given[Name] extends Repeated
      ? string[]
      : Given[Name] extends { default: string } | { required: true }
        ? string
        : string | undefined;
};

export interface Command {
  /** Names of the arguments in help texts; every one is required, unless `rest` says otherwise. */
  arguments: string[];
  /**
   * The last argument takes all words that follow, so that it can be a command: options that this command does not know
   * are among them, and so is everything after `--`.
   */
  rest?: true;
  options: Options;
  /** Paragraphs below the usage, for `--help`. */
  details?: string;
  /** The exit code; nothing is 0, once the process ends by itself. Throws `UsageError` for what only it can check. */
  run(values: GivenValues, args: string[], order: string[]): Promise<number | void>;
}

export type GivenValues = Record<string, string | string[] | boolean | undefined>;

/** Types `values` after the options. */
export function defineCommand<const Given extends Options>(
  command: Omit<Command, 'options' | 'run'> & {
    options: Given;
    /** `order`: the names of the options that were given, in the order of the command line. */
    run(values: Values<Given>, args: string[], order: string[]): Promise<number | void>;
  },
): Command {
  return command as unknown as Command;
}

/** A line in the list of commands. The command itself is loaded when it is asked for, so that `--help` starts fast. */
export interface CommandEntry {
  /** One word, or a group and a word: `chat`, `api-keys list`. */
  name: string;
  summary: string;
  /** In a group: what is meant when none of its commands is named, where options are given or also without any. */
  isDefault?: true | 'also alone';
  load(): Promise<Command>;
}

/** The command line is wrong: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}
