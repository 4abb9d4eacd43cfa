/** What a command of the program `interlude` is: its arguments, its options, its work. */

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

/** An option that may be repeated. */
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
  /** Names of the arguments for help texts. All are required, unless `rest` says otherwise. */
  arguments: string[];
  /**
   * The last argument takes all words that follow, so that it can be a command line: unknown options are part of it,
   * and everything after `--`.
   */
  rest?: true;
  options: Options;
  /** Paragraphs below the usage, for `--help`. */
  details?: string;
  /**
   * The exit code; without one it is 0, when the process ends by itself. Throws `UsageError` for what only the command
   * can check.
   */
  run(values: GivenValues, args: string[], order: string[]): Promise<number | void>;
}

export type GivenValues = Record<string, string | string[] | boolean | undefined>;

/** Infers the type of `values` from the options. */
export function defineCommand<const Given extends Options>(
  command: Omit<Command, 'options' | 'run'> & {
    options: Given;
    /** `order`: the names of the given options, in the order of the command line. */
    run(values: Values<Given>, args: string[], order: string[]): Promise<number | void>;
  },
): Command {
  return command as unknown as Command;
}

/** A line in the list of commands. The command is loaded on demand, so that `--help` starts fast. */
export interface CommandEntry {
  /** One word, or a group and a word: `chat`, `api-keys list`. */
  name: string;
  summary: string;
  /** The command that is meant when only the group is named: with options, or ('also alone') without any. */
  isDefault?: true | 'also alone';
  load(): Promise<Command>;
}

/** The command line is wrong: exit code 2, and the usage is shown. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** What is wrong is in a file that the command reads: exit code 2, without the usage. */
export class GivenFileError extends UsageError {}
