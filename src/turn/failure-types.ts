/** Failures of activities that nobody meant: their words are for operators, and are in the worker's log. */

/** Goes away by itself, or when somebody has seen to the database. */
export const databaseTrouble = 'DatabaseTrouble';
export const activityFailed = 'ActivityFailed';
