/** What a tool may call outside its own code: the functions of `activities.ts`, each of which has its effect once. */
import { readDuration } from '@interlude-ai/core/read-duration.ts';
import type { Duration } from '@interlude-ai/core/read-duration.ts';

type FunctionsIn<Module> = {
  [Name in keyof Module]: Module[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Module];

/** The functions as a tool calls them: always asynchronously. */
export type ActivitiesOf<Module> = {
  [Name in FunctionsIn<Module>]: Module[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** The activities of a tool that declares none. */
export type ActivityFunctions = Record<never, never>;

export interface ActivityOptions<Module = ActivityFunctions> {
  /** How long one call may take, for example `'90s'` or a number of milliseconds. Default: `'60s'`. */
  timeout?: Duration;
  /** Functions that may be called again when it is unknown whether they have run. Others then fail with `OutcomeUnknown`. */
  idempotent?: readonly (FunctionsIn<Module> & string)[];
}

/** `module` exists only for the compiler. */
export interface DeclaredActivities<Module = ActivityFunctions> {
  readonly timeoutMs?: number;
  readonly idempotent?: readonly string[];
  readonly module?: Module;
}

/**
 * Declares which functions a tool may call, by their types only, so that their code does not become part of the tool's:
 * `activities<typeof import('./activities.ts')>()`.
 */
export function activities<Module>({
  timeout,
  idempotent,
}: ActivityOptions<Module> = {}): DeclaredActivities<Module> {
  return {
    ...(timeout !== undefined && { timeoutMs: readDuration(timeout) }),
    ...(idempotent && { idempotent: [...idempotent] }),
  };
}

/**
 * A call of an activity throws this when it is unknown whether the activity had its effect. The activity is not repeated,
 * unless its author lists it as idempotent. An activity may throw it itself, for example if a payment provider does not
 * answer.
 */
export class OutcomeUnknown extends Error {
  override name = 'OutcomeUnknown';

  /** Compares names, because the tool's bundle and the service's runtime each have a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'OutcomeUnknown';
  }
}
