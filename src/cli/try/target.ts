/** What is tried: a server at an address, or one that a command starts. */
import { UsageError } from '../command.ts';

export type Target =
  | { kind: 'http'; url: URL }
  | { kind: 'process'; command: string; args: string[]; cwd?: string };

/** Throws `UsageError`. */
export function readTarget(words: readonly string[]): Target {
  const [first = '', ...args] = words;
  if (/^[\w.-]+:\d+(\/|$)/.test(first))
    throw new UsageError(`${first} is not a URL; it begins with https:// or http://.`);
  if (!/^https?:\/\//i.test(first)) return { kind: 'process', command: first, args };
  const url = URL.parse(first);
  if (!url) throw new UsageError(`${first} is not a URL.`);
  const [surplus] = args;
  if (surplus?.startsWith('-')) throw new UsageError(`There is no option ${surplus}.`);
  if (surplus !== undefined) throw new UsageError(`"${surplus}" is one argument too many.`);
  return { kind: 'http', url };
}

/** Without what is secret in it. */
export function targetInWords(target: Target): string {
  if (target.kind === 'process') return [target.command, ...target.args].join(' ');
  const { protocol, host, pathname } = target.url;
  return `${protocol}//${host}${pathname}`;
}

/** As it is typed again. */
export function targetAsTyped(target: Target): string {
  if (target.kind === 'process') return `-- ${[target.command, ...target.args].map(quoted).join(' ')}`;
  return quoted(targetInWords(target));
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
