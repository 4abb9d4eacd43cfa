/** Exporters that are slow or not there, and none at all. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { metrics } from '@opentelemetry/api';
import type { Attributes } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, test } from 'vitest';
import { beginSpan, isTracing } from '../../../src/platform/telemetry/traces/tracing.ts';
import { freePort } from '../../free-port.ts';
import { startExporting } from './exporting.ts';
import type { Exporting } from './exporting.ts';

const root = path.resolve(import.meta.dirname, '../../..');
let exporting: Exporting | undefined;
afterEach(async () => {
  await exporting?.stop();
  exporting = undefined;
});

const span = (name: string) => beginSpan({ name, parent: null }).end();

test('nothing of the SDK is loaded where telemetry is off, in a process that has all else', async () => {
  const program = `
    import { createRequire } from 'node:module';
    await import('./src/platform/processes/api-process.ts');
    await import('./src/platform/processes/worker-process.ts');
    const { startTelemetry } = await import('./src/platform/telemetry/start-telemetry.ts');
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((file) => /opentelemetry/.test(file));
    const packages = () => [...new Set(loaded().map((file) => /@opentelemetry.([\\w-]+)/.exec(file)?.[1]))];
    const options = { service: 'test', version: '0', logger: console, secret: () => undefined };
    const start = (telemetry) => startTelemetry({ telemetry, servers: new Map() }, options, new AsyncDisposableStack());
    await start({ traces: false });
    const off = packages();
    await start({ traces: true, metrics: { prometheus: true, otlp: true, exportIntervalMs: 60_000 } });
    console.log(JSON.stringify({ off, on: packages() }));
    process.exit(0);
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
  });
  const { off, on } = JSON.parse(stdout) as { off: string[]; on: string[] };
  expect(off).toEqual(['api']);
  expect(on).toEqual(
    expect.arrayContaining(['api', 'sdk-trace-base', 'sdk-metrics', 'exporter-trace-otlp-proto']),
  );
});

test('without telemetry a span is nothing', () => {
  expect(isTracing()).toBe(false);
  const begun = beginSpan({ name: 'nothing', parent: null });
  expect(begun.isRecording()).toBe(false);
});

describe('an exporter that is slow', () => {
  test('is not waited for: spans beyond its queue are dropped and counted, and the others arrive', async () => {
    const reader = new PeriodicExportingMetricReader({
      exporter: new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE),
    });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    try {
      exporting = await startExporting({
        OTEL_BSP_MAX_QUEUE_SIZE: '10',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10',
      });
      const hanging = exporting.hang();
      for (let count = 0; count < 100; count++) span(`number ${count}`);
      hanging.go();
      await exporting.until((spans) => spans.length === 20);
      const { resourceMetrics } = await reader.collect();
      const points = resourceMetrics.scopeMetrics
        .flatMap((scope) => scope.metrics)
        .filter(({ descriptor }) => descriptor.name === 'interlude.telemetry.dropped')
        .flatMap(({ dataPoints }): { attributes: Attributes; value: unknown }[] => dataPoints);
      const dropped = points.find(({ attributes }) => attributes['signal'] === 'spans');
      expect(dropped?.value).toBe(80);
    } finally {
      metrics.disable();
      await reader.shutdown();
    }
  });
});

test('what is left when a process stops is exported first', async () => {
  exporting = await startExporting({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
  const { spans } = exporting;
  span('last');
  expect(spans).toEqual([]);
  await exporting.stop();
  exporting = undefined;
  expect(spans.map(({ name }) => name)).toEqual(['last']);
});

test('no span is recorded while a process that stops exports its last ones, nor afterwards', async () => {
  exporting = await startExporting({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
  const hanging = exporting.hang();
  span('last');
  const stopping = exporting.stop();
  await expect.poll(isTracing).toBe(false);
  const isRecording = () => beginSpan({ name: 'late', parent: null }).isRecording();
  const meanwhile = isRecording();
  hanging.go();
  await stopping;
  exporting = undefined;
  expect([meanwhile, isRecording()]).toEqual([false, false]);
});

test('an exporter that is not there is no error, and the process goes on', async () => {
  const nowhere = `http://127.0.0.1:${await freePort()}`;
  exporting = await startExporting({ OTEL_EXPORTER_OTLP_ENDPOINT: nowhere });
  span('lost');
  await exporting.stop();
  exporting = undefined;
  expect(isTracing()).toBe(false);
});

test('headers of the exporter may be kept in a file, and are read anew', async () => {
  process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-key=first';
  try {
    exporting = await startExporting();
    span('one');
    await exporting.until((spans) => spans.length === 1);
    process.env['OTEL_EXPORTER_OTLP_HEADERS'] = 'x-key=second';
    span('two');
    await exporting.until((spans) => spans.length === 2);
    expect(exporting.headers.map((one) => one['x-key'])).toEqual(['first', 'second']);
  } finally {
    delete process.env['OTEL_EXPORTER_OTLP_HEADERS'];
  }
});
