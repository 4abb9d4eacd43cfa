/** Reads the environment, and reports all that is wrong with it at once. */
import { combinations, unreadableFiles } from './environment-combinations.ts';
import type { Combination } from './environment-combinations.ts';
import { environmentSchema } from './environment-schema.ts';
import type { Environment } from './environment-schema.ts';
import { remedyMessages } from './problem-messages.ts';

export const environmentVariables = Object.keys(environmentSchema.shape);

/** Whether the service itself reads it, whatever the agents file names. */
export function isOurVariable(name: string): boolean {
  return name in environmentSchema.shape;
}

/** Null when something is wrong, which is added to `problems`. `needs`: what this process needs besides. */
export function readEnvironment(
  given: Record<string, string>,
  problems: string[],
  needs: readonly Combination[] = [],
): Environment | null {
  const parsed = environmentSchema.safeParse(given, { error: remedyMessages });
  const wrong = new Map((parsed.error?.issues ?? []).map(({ path, message }) => [String(path[0]), message]));
  for (const [name, message] of wrong) problems.push(`${name}: ${message}`);
  // The others are checked all the same.
  const readable = Object.entries(given).filter(([name]) => !wrong.has(name));
  const values = environmentSchema.parse(Object.fromEntries(readable));
  for (const { names, isWrong, remedy } of [...combinations, ...needs]) {
    if (names.every((name) => !wrong.has(name)) && isWrong(values)) problems.push(`${names[0]}: ${remedy}`);
  }
  problems.push(...unreadableFiles(values));
  return parsed.success ? parsed.data : null;
}
