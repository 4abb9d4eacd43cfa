/** What a tool may call outside of its own code: the functions of the folder's `activities.ts`, each with its effect once. */
import { readDuration } from './read-duration.ts';
import type { Duration } from './read-duration.ts';

/** The names of a module's functions. */
type FunctionsIn<Module> = {
  [Name in keyof Module]: Module[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof Module];

/** As a tool calls them: asynchronously, whatever they are at home. */
export type ActivitiesOf<Module> = {
  [Name in FunctionsIn<Module>]: Module[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never;
};

/** Of a tool that declares none. */
export type ActivityFunctions = Record<never, never>;

export interface ActivityOptions<Module = ActivityFunctions> {
  /** How long one call may take, for example `'90s'` or a number of milliseconds. Default: `'60s'`. */
  timeout?: Duration;
  /** What may be called again when nobody knows whether it has run. Everything else then fails with `OutcomeUnknown`. */
  idempotent?: readonly (FunctionsIn<Module> & string)[];
}

/** `module` is for the compiler alone; nothing is there at run time. */
export interface DeclaredActivities<Module = ActivityFunctions> {
  readonly timeoutMs?: number;
  readonly idempotent?: readonly string[];
  readonly module?: Module;
}

/**
 * Says which functions a tool may call, by their types alone, so that nothing of them gets into the tool's own code:
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
