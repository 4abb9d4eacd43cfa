/** Which attempt an activity is for the rows that it writes, also where it repeats another one (see turn/repetition.ts). */
import { activityInfo } from '@temporalio/activity';
import type { Repetition } from '../turn/repetition.ts';

/** Grows from one attempt to the next. How many are left is another question: that Temporal's own number answers. */
export function attemptNumber({ repeats }: Repetition): number {
  return (repeats?.attempts ?? 0) + activityInfo().attempt;
}
