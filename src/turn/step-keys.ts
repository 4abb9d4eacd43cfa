/** Keys of log entries, unique in a turn. All output of a step, of every attempt, has the step's key as a prefix. Pure. */

export function keyOfStep(step: number): string {
  return `step/${step}/`;
}

/** `index` counts the events of the attempt from 0. */
export function keyOfOutput(step: number, attempt: number, index: number): string {
  return `${keyOfStep(step)}${attempt}/${index}`;
}

/** Without the step's prefix: it stays when the output of the step is deleted. */
export function keyOfReset(step: number, attempt: number): string {
  return `reset/${step}/${attempt}`;
}
