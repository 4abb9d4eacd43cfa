/**
 * The OpenTelemetry SDK with its exporters. Only loaded when metrics are on.
 *
 * Prometheus gets the same names either way: with OTLP it appends the unit to a name (`…_duration_seconds`), but the
 * exporter for `/metrics` does not, so it is appended here.
 */
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import type { MetricData, PushMetricExporter, ResourceMetrics } from '@opentelemetry/sdk-metrics';
import type { MetricsConfig } from '../../config/config.ts';
import { headersOf, resourceOf, viaProxy } from '../resource.ts';
import type { TelemetryOptions } from '../resource.ts';
import { telemetryDropped } from './instruments.ts';

/** Per instrument. Further series are counted together, under the label `otel_metric_overflow`. */
const maxSeries = 500;

export function createMeterProvider(
  { prometheus, otlp, exportIntervalMs }: MetricsConfig,
  options: TelemetryOptions,
): { provider: MeterProvider; scrape: (() => Promise<string>) | null } {
  const exporter = otlp
    ? new OTLPMetricExporter({ headers: headersOf('METRICS', options), ...viaProxy(options) })
    : null;
  const exported =
    exporter &&
    new PeriodicExportingMetricReader({
      exporter: countingLost(exporter),
      exportIntervalMillis: exportIntervalMs,
      exportTimeoutMillis: Math.min(exportIntervalMs, 10_000),
      cardinalityLimits: { default: maxSeries },
    });
  // Each reader computes all series, so one is used for both, unless the export is of deltas.
  const isCumulative =
    exporter?.selectAggregationTemporality(InstrumentType.COUNTER) === AggregationTemporality.CUMULATIVE;
  const scraped = prometheus ? ((isCumulative ? exported : null) ?? new ScrapedReader()) : null;
  const provider = new MeterProvider({
    resource: resourceOf(options),
    readers: [...new Set([exported, scraped])].filter((reader) => reader !== null),
  });
  return { provider, scrape: scraped && (() => textOf(scraped)) };
}

class ScrapedReader extends MetricReader {
  constructor() {
    super({ cardinalitySelector: () => maxSeries });
  }

  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

const serializer = new PrometheusSerializer(undefined, false, undefined, false, true);

async function textOf(reader: MetricReader): Promise<string> {
  const { resourceMetrics } = await reader.collect();
  return serializer.serialize(withUnits(resourceMetrics));
}

/** Units in Prometheus's spelling. */
const units: Record<string, string> = { s: 'seconds', ms: 'milliseconds', By: 'bytes' };

function withUnits({ resource, scopeMetrics }: ResourceMetrics): ResourceMetrics {
  return {
    resource,
    scopeMetrics: scopeMetrics.map(({ scope, metrics }) => ({ scope, metrics: metrics.map(withUnit) })),
  };
}

function withUnit(metric: MetricData): MetricData {
  const unit = units[metric.descriptor.unit];
  if (unit === undefined || metric.descriptor.name.endsWith(unit)) return metric;
  return { ...metric, descriptor: { ...metric.descriptor, name: `${metric.descriptor.name}.${unit}` } };
}

/** Counts failed exports. The next one contains their values. */
function countingLost(exporter: OTLPMetricExporter): PushMetricExporter {
  return {
    export(metrics, done) {
      exporter.export(metrics, (result) => {
        if (result.error) telemetryDropped('metrics');
        done(result);
      });
    },
    selectAggregation: (type) => exporter.selectAggregation(type),
    selectAggregationTemporality: (type) => exporter.selectAggregationTemporality(type),
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}
