/** `vi.waitFor` gives up after a second unless it is told otherwise. It waits as long as `expect.poll` does: see `vitest.config.ts`. */
import { vi } from 'vitest';

const marked = vi.waitFor as typeof vi.waitFor & { isPatient?: true };

if (!marked.isPatient) {
  const patient: typeof marked = (callback, options) =>
    marked(callback, typeof options === 'number' ? options : { timeout: 10_000, ...options });
  patient.isPatient = true;
  vi.waitFor = patient;
}
