/** Removes what may be a secret from what a failing program writes: many read the log, and the program knows its own. */
import { inheritedVariables } from '../config/agents-file/inherited-variables.ts';
import type { ServerProcess } from '../config/agents-file/server-config.ts';
import { hidden, withoutKeys } from '../telemetry/redact-secrets.ts';

const shortestSecret = 6;

/** The values it was given, and whatever looks like a key. */
export function redactSecrets(text: string, { env, args }: Pick<ServerProcess, 'env' | 'args'>): string {
  const given = Object.entries(env).flatMap(([name, value]) =>
    inheritedVariables.includes(name) ? [] : value,
  );
  const known = [...given, ...args.flatMap(secretArgument)]
    .filter((value) => value.length >= shortestSecret)
    .toSorted((one, other) => other.length - one.length);
  const withoutKnown = known.reduce((words, value) => words.replaceAll(value, hidden), text);
  return withoutKeys(withoutKnown);
}

/** `--token=…`, and what stands after `--token`. */
function secretArgument(argument: string, index: number, all: string[]): string[] {
  const isNamed = (text: string) => /^-.*(?:token|secret|password|key|auth)/i.test(text);
  const [name = '', ...value] = argument.split('=');
  if (value.length > 0) return isNamed(name) ? [value.join('=')] : [];
  const before = all[index - 1];
  return before !== undefined && !before.includes('=') && isNamed(before) ? [argument] : [];
}
