/** Variables that are set and that nothing reads, as far as they are probably meant for us. */
import { didYouMean, nearestSpelling } from './nearest-spelling.ts';

/** Read by commands, by the set-up and by processes before they start. */
const readElsewhere = [
  'INTERLUDE_TOKEN',
  'INTERLUDE_TRY_TOKEN',
  'INTERLUDE_ENVIRONMENT',
  'TEMPORAL_CLI_PATH',
];

/** Shorter names are near to too many others. */
const shortestLength = 6;

/**
 * A message for each that is almost the name of a variable of ours, or begins with `INTERLUDE_`. `known`: what the service
 * reads. `isNamed`: whether the agents file names it.
 */
export function unreadVariables(
  env: Record<string, string>,
  known: readonly string[],
  isNamed: (name: string) => boolean,
): string[] {
  return Object.keys(env).flatMap((name) => {
    const variable = name.replace(/_FILE$/, '');
    if ([...known, ...readElsewhere].some((one) => one === name || one === variable)) return [];
    const nearest =
      variable.length < shortestLength
        ? undefined
        : nearestSpelling(variable, known, variable.length < 10 ? 1 : 2);
    if ((nearest === undefined && !name.startsWith('INTERLUDE_')) || isNamed(name) || isNamed(variable))
      return [];
    const meant = nearest === undefined ? didYouMean(variable, known) : ` (did you mean ${nearest}?)`;
    return [`${name}: no variable of this name is read${meant}`];
  });
}
