/**
 * The metrics of Temporal's SDK (`temporal_…`), which its native part keeps in a buffer until they are read. It drops what
 * comes when the buffer is full.
 */
import type { Attributes, Meter } from '@opentelemetry/api';
import type { BufferedMetricUpdate, MetricsBuffer } from '@temporalio/worker';
import type { Logger } from 'pino';
import { telemetryDropped } from './instruments.ts';

/** A busy worker reports a few thousand a second. */
export const temporalBufferSize = 100_000;
const everyMs = 1_000;
/** From five milliseconds to ten minutes. */
const latencySeconds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300, 600];

type Metric = BufferedMetricUpdate['metric'];
type Record = (value: number, attributes: Attributes) => void;

export function drainTemporalMetrics(
  buffer: MetricsBuffer,
  meter: Meter,
  logger: Logger,
): { drain: () => void; stop: () => void } {
  const recorders = new Map<string, Record>();
  let hasWarned = false;

  function recorderOf(metric: Metric): Record {
    const known = recorders.get(metric.name);
    if (known) return known;
    const made = createRecorder(meter, metric);
    recorders.set(metric.name, made);
    return made;
  }

  function drain(): void {
    let count = 0;
    // To record a value costs more than to add it up: of counters there are sums, of gauges the last values.
    const sums = new Map<Record, Map<Attributes, number>>();
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
      // Other attributes may have the same values, and the last ones count.
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

function createRecorder(meter: Meter, { kind, name, unit = '', description = '' }: Metric): Record {
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
