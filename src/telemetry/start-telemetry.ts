/**
 * Switches OpenTelemetry on where the settings say so, once per process. Otherwise nothing but its API is loaded, whose
 * functions do nothing then. What is exported: docs/telemetry.md.
 */
import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { Config } from '../config/config.ts';
import { diagnosticsTo } from './diagnostics.ts';
import type { TelemetryOptions } from './resource.ts';

/** What it has begun ends with the stack, which should end it last: until then, other parts may still export. */
export async function startTelemetry(
  { telemetry }: Pick<Config, 'telemetry'>,
  options: TelemetryOptions,
  stack: AsyncDisposableStack,
): Promise<void> {
  if (!telemetry.traces) return;
  diag.setLogger(diagnosticsTo(options.logger), DiagLogLevel.WARN);
  stack.defer(() => diag.disable());
  // Metrics begin here, before traces: these count there what they drop.
  const { startTraces } = await import('./traces/start-traces.ts');
  stack.defer(startTraces(options));
}
