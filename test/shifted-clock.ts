/**
 * Processes whose wall clock is wrong, by so many milliseconds or by what a file says while they run. This module is loaded
 * before such a process, too, and shifts its clock. Timers are not affected, as with a clock that is set.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** With the prefix of what our processes keep when they start themselves again. */
const variable = 'NODE_CLOCK_SHIFT';

/** The environment of a process whose wall clock is so far ahead of the machine's. */
export function shiftedClock(by: number | { file: string }): Record<string, string> {
  const preload = pathToFileURL(import.meta.filename).href;
  const shift = typeof by === 'number' ? String(by) : by.file;
  return { NODE_OPTIONS: `--import=${preload}`, [variable]: shift };
}

const given = process.env[variable];
if (given !== undefined) {
  const isFile = Number.isNaN(Number(given));
  const read = () => {
    try {
      return Number(isFile ? readFileSync(given, 'utf8') : given);
    } catch {
      return 0;
    }
  };
  let shiftMs = read();
  if (isFile) setInterval(() => (shiftMs = read()), 200).unref();
  const { now: real } = Date;
  const shifted = () => real() + shiftMs;
  globalThis.Date = new Proxy(Date, {
    get: (target, name) => (name === 'now' ? shifted : (Reflect.get(target, name) as unknown)),
    apply: () => new Date(shifted()).toString(),
    construct: (target, given: [], newTarget: typeof Date) =>
      Reflect.construct(target, given.length === 0 ? [shifted()] : given, newTarget) as Date,
  });
}
