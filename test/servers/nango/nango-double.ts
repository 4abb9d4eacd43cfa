/**
 * Nango's server as it was measured to behave: REST, the browser's way to a provider and back, the WebSocket and the
 * webhooks, with knobs for all that goes wrong with it. Nothing of the real one is in it; the suite that tests against
 * this runs against a real one too, see docs/nango.md.
 */
import { onTestFinished } from 'vitest';
import { withKnobs } from './knobs.ts';
import { openNangoServer } from './nango-server.ts';
import type { NangoDouble, NangoDoubleOptions } from './types.ts';

/** Stops with the test. */
export async function startNangoDouble(options: NangoDoubleOptions = {}): Promise<NangoDouble> {
  const double = await openNangoDouble(options);
  onTestFinished(() => double.stop());
  return double;
}

export async function openNangoDouble(options: NangoDoubleOptions = {}): Promise<NangoDouble> {
  return withKnobs(await openNangoServer(options));
}
