/**
 * Loaded before a program (`NODE_OPTIONS=--import=…`): its clock is wrong by what the file at NODE_CLOCK_FILE says, in
 * milliseconds, and follows the file while the program runs. Timers are not affected, as with a clock that is set.
 */
import { readFileSync } from 'node:fs';

const file = process.env.NODE_CLOCK_FILE ?? '';
const RealDate = Date;
const realNow = Date.now;
let shiftMs = read();
setInterval(() => (shiftMs = read()), 200).unref();

const now = () => realNow() + shiftMs;
RealDate.now = now;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [now()] : given, newTarget),
  apply: () => new RealDate(now()).toString(),
});
RealDate.prototype.constructor = globalThis.Date;

function read() {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}
