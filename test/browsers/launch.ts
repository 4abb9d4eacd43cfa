import type { Browser } from 'playwright-core';
import type { Found } from '../programs/find-program.ts';

export type Launched = { kind: 'ready'; browser: Browser } | { kind: 'missing'; why: string };

/** A browser that was fetched may lack what only a whole system has; then there is none. */
export async function launchFound(
  found: Found,
  launch: (found: Extract<Found, { kind: 'ready' }>) => Promise<Browser>,
): Promise<Launched> {
  if (found.kind === 'missing') return found;
  try {
    return { kind: 'ready', browser: await launch(found) };
  } catch (error) {
    if (found.isOwn) throw error;
    return { kind: 'missing', why: `${found.executable} does not start here: ${String(error)}` };
  }
}
