/** What an activity's call throws when nobody knows whether the activity has had its effect. */

/**
 * The activity is not repeated, unless its author lists it as idempotent. An activity may throw it itself, where it cannot
 * know either: a payment provider that does not answer, say.
 */
export class OutcomeUnknown extends Error {
  override name = 'OutcomeUnknown';

  /** By its name: the tool's bundle and the service's runtime each have a copy of this class. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'OutcomeUnknown';
  }
}
