/**
 * Switches OpenTelemetry on where the settings say so, once per process. Otherwise nothing but its API is loaded, whose
 * functions do nothing then. What is exported: docs/telemetry.md.
 */
import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { Config } from '../config/config.ts';
import { diagnosticsTo } from './diagnostics.ts';
import { beginSeries } from './metrics/instruments.ts';
import { startMetrics } from './metrics/start-metrics.ts';
import type { Metrics } from './metrics/start-metrics.ts';
import type { TelemetryOptions } from './resource.ts';

/**
 * What it has begun ends with the stack, which should end it last: until then, other parts may still export. Null where
 * metrics are off.
 */
export async function startTelemetry(
  { telemetry, servers }: Pick<Config, 'telemetry' | 'servers'>,
  options: TelemetryOptions,
  stack: AsyncDisposableStack,
): Promise<Metrics | null> {
  if (!telemetry.traces && !telemetry.metrics) return null;
  diag.setLogger(diagnosticsTo(options.logger), DiagLogLevel.WARN);
  stack.defer(() => diag.disable());
  const metrics = telemetry.metrics ? await startMetrics(telemetry.metrics, options) : null;
  if (metrics) {
    stack.defer(() => metrics.close());
    beginSeries(servers.values());
  }
  // After metrics: what they drop is counted there.
  if (telemetry.traces) {
    const { startTraces } = await import('./traces/start-traces.ts');
    stack.defer(startTraces(options));
  }
  return metrics;
}
