/**
 * Switches OpenTelemetry on where the settings say so, once per process. Otherwise nothing but its API is loaded, whose
 * functions do nothing then. What is exported: docs/telemetry.md.
 */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';

export interface TelemetryOptions {
  /** The name of the process, unless OTEL_SERVICE_NAME gives another one. */
  service: string;
  version: string;
  logger: Logger;
  /** Reads a variable that may be in a file, as it is by now. */
  secret: (name: string) => string | undefined;
}

/** What it has begun ends with the stack, which should end it last: until then, other parts may still export. */
export async function startTelemetry(
  { telemetry }: Pick<Config, 'telemetry'>,
  options: TelemetryOptions,
  stack: AsyncDisposableStack,
): Promise<void> {
  // Metrics begin here, before traces: these count there what they drop.
  if (telemetry.traces) {
    const { startTraces } = await import('./traces/start-traces.ts');
    const stop = startTraces(options);
    stack.defer(stop);
  }
}
