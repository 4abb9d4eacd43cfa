/** Lets `vi.waitFor` wait as long as `expect.poll` (see `vitest.config.ts`) instead of one second. */
import { vi } from 'vitest';

const marked = vi.waitFor as typeof vi.waitFor & { waitsLonger?: true };

if (!marked.waitsLonger) {
  const waitLonger: typeof marked = (callback, options) =>
    marked(callback, typeof options === 'number' ? options : { timeout: 10_000, ...options });
  waitLonger.waitsLonger = true;
  vi.waitFor = waitLonger;
}
