/** Starts metrics. The SDK is imported here, so that it is not loaded without them. */
import { metrics } from '@opentelemetry/api';
import type { Attributes, Meter } from '@opentelemetry/api';
import type { BufferedMetricUpdate, MetricsBuffer } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { MetricsConfig } from '../../config/config.ts';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import type { TelemetryOptions } from '../resource.ts';
import { observeFigures, telemetryDropped } from './instruments.ts';
import type { Figures } from '../../../storage/tables/oversight.ts';

export interface Metrics {
  /** What Prometheus reads; null when it is not configured. */
  scrape: (() => Promise<string>) | null;
  /** Records the metrics that Temporal's SDK puts into this buffer. */
  addTemporal(buffer: MetricsBuffer): void;
  /** Exports the last values. */
  close(): Promise<void>;
}

/** A collector that does not answer must not keep the process from ending. */
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
      // Allows the process to start metrics again.
      metrics.disable();
      await withTimeout(
        provider.shutdown().catch((err: unknown) => logger.warn({ err }, 'the last metrics were not sent')),
        lastExportMs,
        undefined,
      );
    },
  };
}

/** Temporal's SDK drops metrics when the buffer is full. */
/** A busy worker reports a few thousand per second. */
export const temporalBufferSize = 100_000;
const everyMs = 1_000;
const latencySeconds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600];

type Metric = BufferedMetricUpdate['metric'];
type RecordValue = (value: number, attributes: Attributes) => void;

function drainTemporalMetrics(
  buffer: MetricsBuffer,
  meter: Meter,
  logger: Logger,
): { drain: () => void; stop: () => void } {
  const recorders = new Map<string, RecordValue>();
  let hasWarned = false;

  function recorderOf(metric: Metric): RecordValue {
    const known = recorders.get(metric.name);
    if (known) return known;
    const made = createRecorder(meter, metric);
    recorders.set(metric.name, made);
    return made;
  }

  function drain(): void {
    let count = 0;
    // Recording is more expensive than adding up: counters are summed, and of gauges the last value is used.
    const sums = new Map<RecordValue, Map<Attributes, number>>();
    for (const { metric, value, attributes } of buffer.retrieveUpdates()) {
      count += 1;
      const record = recorderOf(metric);
      if (metric.kind === 'histogram') {
        record(value, attributes);
        continue;
      }
      const sum = sums.get(record) ?? new Map<Attributes, number>();
      sums.set(record, sum);
      const before = metric.kind === 'gauge' ? 0 : (sum.get(attributes) ?? 0);
      // Another object may have equal attributes, and the last one counts.
      sum.delete(attributes);
      sum.set(attributes, before + value);
    }
    for (const [record, sum] of sums) for (const [attributes, value] of sum) record(value, attributes);
    if (count < temporalBufferSize) return;
    telemetryDropped('temporal_metrics');
    if (!hasWarned) logger.warn('metrics of Temporal come faster than they are read, and some are lost');
    hasWarned = true;
  }

  const timer = setInterval(drain, everyMs).unref();
  return {
    drain,
    stop() {
      clearInterval(timer);
      drain();
    },
  };
}

function createRecorder(meter: Meter, { kind, name, unit = '', description = '' }: Metric): RecordValue {
  const options = { unit, description };
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, options);
      return (value, attributes) => counter.add(value, attributes);
    }
    case 'histogram': {
      const isTime = unit === 's';
      const histogram = meter.createHistogram(name, {
        ...options,
        ...(isTime && { advice: { explicitBucketBoundaries: latencySeconds } }),
      });
      return (value, attributes) => histogram.record(value, attributes);
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, options);
      return (value, attributes) => gauge.record(value, attributes);
    }
    case 'up-down-counter': {
      const counter = meter.createUpDownCounter(name, options);
      return (value, attributes) => counter.add(value, attributes);
    }
    default:
      return kind satisfies never;
  }
}

/**
 * The gauges that are read from the database. Every process reads them, so that they do not depend on one; queries take the
 * maximum. They are read at most every 15 seconds, however often metrics are collected.
 */
const freshMs = 15_000;
/** If the database does not answer, the gauges are missing, but the scrape is on time. */
const longestMs = 2_000;

export function watchFigures({ figures }: { figures(): Promise<Figures> }, limitMs = freshMs): () => void {
  let read: { at: number; figures: Promise<Figures | null> } | undefined;
  return observeFigures(() => {
    if (!read || performance.now() - read.at >= limitMs) {
      const reading = figures().catch(() => null);
      read = { at: performance.now(), figures: withTimeout(reading, longestMs, null, { ref: false }) };
    }
    return read.figures;
  });
}
