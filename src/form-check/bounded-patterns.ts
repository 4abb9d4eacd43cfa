/**
 * Runs the regular expressions of strangers against the clock. JavaScript's engine backtracks, and a short pattern is
 * enough to keep it busy for years; in a context of its own it can be stopped. Nothing but texts goes in, and nothing
 * but a yes or no comes out.
 */
import { createContext, Script } from 'node:vm';

const script = new Script('new RegExp(pattern, "u").test(text)');
const context = createContext(Object.assign(Object.create(null), { pattern: '', text: '' }));
const maximalLength = 1000;
/**
 * A busy machine may take the processor away for longer than a pattern may run, and again at the next try. So each try
 * has twice the time on the clock, up to this many times what it may take. And the collection of garbage in the middle of
 * a try is on the same bill: no try takes more than half of the budget.
 */
const maxTries = 10;
const maxStretch = 16;

/**
 * All patterns of one form share `budgetMs` of processor time. A pattern fits, too, where it cannot be told: it is too
 * long, no JavaScript, or not done in time.
 */
export function boundedPatterns(budgetMs: number): (pattern: string, text: string) => boolean {
  const shareMs = budgetMs / 2;
  let leftMs = budgetMs;
  return (pattern, text) => {
    if (pattern.length > maximalLength) return true;
    for (let tries = 0; tries < maxTries && leftMs > 0; tries++) {
      const before = process.threadCpuUsage();
      try {
        const clockMs = Math.ceil(Math.min(leftMs, shareMs));
        return run(pattern, text, clockMs * Math.min(2 ** tries, maxStretch));
      } catch (error) {
        if (!isTimeout(error)) return true;
      } finally {
        const { user, system } = process.threadCpuUsage(before);
        leftMs -= Math.min((user + system) / 1_000, shareMs);
      }
    }
    return true;
  };
}

function run(pattern: string, text: string, timeout: number): boolean {
  Object.assign(context, { pattern, text });
  return script.runInContext(context, { timeout }) !== false;
}

/** It comes from the other context, whose `Error` is not ours. */
function isTimeout(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
