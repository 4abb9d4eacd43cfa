/** Which command the words of a command line mean. */
import { didYouMean } from '../config/nearest-spelling.ts';
import type { CommandEntry } from './command.ts';
import { UsageError } from './command.ts';

export type Found =
  | { kind: 'command'; entry: CommandEntry; rest: string[] }
  /** Help for a group was asked for. */
  | { kind: 'group'; group: string };

export function groupOf({ name }: CommandEntry): string | undefined {
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
    throw new UsageError(`There is no command "${first}"${didYouMean(first, known)}.`);
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
  throw new UsageError(`Say what to do: interlude ${first} ${names.join(` · interlude ${first} `)}`);
}
