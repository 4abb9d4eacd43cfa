/**
 * Part of the input of an activity that its workflow runs again, because it had used up its attempts while the database was
 * away. For Temporal that is another activity, whose attempts count from 1; for the rows that the first one has written it
 * is the same.
 */
export interface Repetition {
  /** Absent in the first activity. */
  repeats?: {
    /** As many as all activities before this one can have had. */
    attempts: number;
  };
}
