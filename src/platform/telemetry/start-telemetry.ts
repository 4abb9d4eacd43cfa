/**
 * Starts OpenTelemetry if it is configured, once per process. Otherwise only its API is loaded, whose functions then do
 * nothing. What is exported: docs/telemetry.md.
 */
import { diag, DiagLogLevel } from '@opentelemetry/api';
import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { beginSeries } from './metrics/instruments.ts';
import { startMetrics } from './metrics/start-metrics.ts';
import type { Metrics } from './metrics/start-metrics.ts';
import type { TelemetryOptions } from './resource.ts';
import { withoutKeys } from './redact-secrets.ts';

/** The stack stops it, and should do so last, because other parts still export until then. Null when metrics are off. */
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
  // After metrics, which count dropped spans.
  if (telemetry.traces) {
    const { startTraces } = await import('./traces/start-traces.ts');
    stack.defer(startTraces(options));
  }
  return metrics;
}

const pauseMs = 60_000;
const longestText = 500;

/** Logs problems of the SDK, such as an unreachable collector, at most once a minute. */
function diagnosticsTo(logger: Logger): DiagLogger {
  let loggedAt = -Infinity;
  let leftOut = 0;
  const log = (message: string) => {
    const now = performance.now();
    if (now - loggedAt < pauseMs) {
      leftOut += 1;
      return;
    }
    const reason = withoutKeys(message.slice(0, longestText));
    logger.warn({ reason, leftOut }, 'telemetry is not exported');
    loggedAt = now;
    leftOut = 0;
  };
  return { error: log, warn: log, info: ignore, debug: ignore, verbose: ignore };
}

function ignore(): void {}
