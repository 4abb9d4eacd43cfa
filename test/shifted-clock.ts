/** Processes whose wall clock is wrong. This module is loaded before such a process, too, and shifts its clock. */
import { pathToFileURL } from 'node:url';

/** With the prefix of what our processes keep when they start themselves again. */
const variable = 'NODE_CLOCK_SHIFT_MS';

/** The environment of a process whose wall clock is so far ahead of the machine's. */
export function shiftedClock(ms: number): Record<string, string> {
  const preload = pathToFileURL(import.meta.filename).href;
  return { NODE_OPTIONS: `--import=${preload}`, [variable]: String(ms) };
}

const shiftMs = Number(process.env[variable] ?? 0);
if (shiftMs !== 0) {
  const { now: real } = Date;
  const shifted = () => real() + shiftMs;
  globalThis.Date = new Proxy(Date, {
    get: (target, name) => (name === 'now' ? shifted : (Reflect.get(target, name) as unknown)),
    apply: () => new Date(shifted()).toString(),
    construct: (target, given: [], newTarget: typeof Date) =>
      Reflect.construct(target, given.length === 0 ? [shifted()] : given, newTarget) as Date,
  });
}
