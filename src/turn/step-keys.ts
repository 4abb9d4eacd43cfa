/** The keys under which the log keeps what a step says: those of all attempts of a step begin alike. Pure. */

export function keyOfStep(step: number): string {
  return `step/${step}/`;
}

/** `index` counts what the attempt says. */
export function keyOfSpeech(step: number, attempt: number, index: number): string {
  return `${keyOfStep(step)}${attempt}/${index}`;
}

/** Begins differently: it stays when what the step has said goes. */
export function keyOfReset(step: number, attempt: number): string {
  return `reset/${step}/${attempt}`;
}
