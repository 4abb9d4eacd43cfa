/** Switches metrics on. What this module imports when it is called is not loaded without them. */
import { metrics } from '@opentelemetry/api';
import type { MetricsBuffer } from '@temporalio/worker';
import type { MetricsConfig } from '../../config/config.ts';
import { withTimeout } from '../../time/with-timeout.ts';
import type { TelemetryOptions } from '../resource.ts';
import { drainTemporalMetrics } from './temporal-metrics.ts';

export interface Metrics {
  /** What Prometheus reads; null where it is not asked for. */
  scrape: (() => Promise<string>) | null;
  /** Records what Temporal's SDK reports into this buffer. */
  addTemporal(buffer: MetricsBuffer): void;
  /** Sends the last values. */
  close(): Promise<void>;
}

/** A collector that does not answer keeps no process from ending. */
const lastExportMs = 3_000;

export async function startMetrics(settings: MetricsConfig, options: TelemetryOptions): Promise<Metrics> {
  const { createMeterProvider } = await import('./meter-provider.ts');
  const { logger } = options;
  const { provider, scrape } = createMeterProvider(settings, options);
  metrics.setGlobalMeterProvider(provider);
  const stops: (() => void)[] = [];
  let drain: () => void = () => undefined;
  return {
    scrape:
      scrape &&
      (() => {
        drain();
        return scrape();
      }),
    addTemporal(buffer) {
      const draining = drainTemporalMetrics(buffer, provider.getMeter('temporal'), logger);
      ({ drain } = draining);
      stops.push(draining.stop);
    },
    async close() {
      for (const stop of stops) stop();
      // Its name is free again, for a process that starts metrics twice.
      metrics.disable();
      await withTimeout(
        provider.shutdown().catch((err: unknown) => logger.warn({ err }, 'the last metrics were not sent')),
        lastExportMs,
        undefined,
      );
    },
  };
}
