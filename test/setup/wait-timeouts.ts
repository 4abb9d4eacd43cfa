/** Lets `vi.waitFor` and `vi.waitUntil` wait as long as `expect.poll` (see `vitest.config.ts`) instead of one second. */
import { vi } from 'vitest';

const marked = vi as typeof vi & { waitsLonger?: true };

if (!marked.waitsLonger) {
  const { waitFor, waitUntil } = vi;
  const longer = (options?: Parameters<typeof waitFor>[1]) =>
    typeof options === 'number' ? options : { timeout: 30_000, ...options };
  vi.waitFor = (callback, options) => waitFor(callback, longer(options));
  vi.waitUntil = (callback, options) => waitUntil(callback, longer(options));
  marked.waitsLonger = true;
}
