/**
 * Types of activity failures that were not thrown on purpose. Their details are in the worker's log, for operators. The
 * strings are in recorded histories: they stay.
 */

/** The database cannot be reached or is overloaded: trying again later helps. */
export const databaseTrouble = 'DatabaseTrouble';
/** Anything else. */
export const activityFailed = 'ActivityFailed';
/** The turn has ended, or is about to, so the activity has stopped or what it wanted to write was refused. */
export const turnIsOver: readonly string[] = ['TurnEnding', 'WriteRefused'];
