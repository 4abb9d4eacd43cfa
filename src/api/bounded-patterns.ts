/**
 * Runs the regular expressions of strangers against the clock. JavaScript's engine backtracks, and a short pattern is
 * enough to keep it busy for years; in a context of its own it can be stopped. Nothing but texts goes in, and nothing
 * but a yes or no comes out.
 */
import { createContext, Script } from 'node:vm';

const script = new Script('new RegExp(pattern, "u").test(text)');
const maximalLength = 1000;

/**
 * All patterns of one form share `budgetMs`. A pattern fits, too, where it cannot be told: it is too long, no
 * JavaScript, or not done in time.
 */
export function boundedPatterns(budgetMs: number): (pattern: string, text: string) => boolean {
  let leftMs = budgetMs;
  return (pattern, text) => {
    if (leftMs < 1 || pattern.length > maximalLength) return true;
    const context = createContext(Object.assign(Object.create(null), { pattern, text }));
    const begun = performance.now();
    try {
      return script.runInContext(context, { timeout: Math.ceil(leftMs) }) !== false;
    } catch {
      return true;
    } finally {
      leftMs -= performance.now() - begun;
    }
  };
}
