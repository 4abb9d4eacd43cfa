/** What a server is told when it is left: nobody waits for it, except a process that is about to end. */
import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 2_000;
const underWay = new Set<Promise<void>>();

/** Resolves when it was said, or would have taken too long; whether it was heard is nobody's business. */
export function sayGoodbye(goodbye: Promise<unknown>): Promise<void> {
  const said = Promise.race([
    goodbye.catch(() => undefined),
    sleep(patienceMs, undefined, { ref: false }),
  ]).then(() => void underWay.delete(said));
  underWay.add(said);
  return said;
}

/** Resolves when everything that this process has to say to servers it leaves has been said. */
export async function goodbyesSaid(): Promise<void> {
  while (underWay.size > 0) await Promise.all(underWay);
}
