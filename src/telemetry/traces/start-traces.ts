/** The SDK of traces: everything here is loaded only where traces are exported. Its own settings are OTEL_ variables. */
import { context, createNoopMeter, trace } from '@opentelemetry/api';
import type { Meter } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '../../time/with-timeout.ts';
import { headersOf, resourceOf } from '../resource.ts';
import type { TelemetryOptions } from '../resource.ts';
import { telemetryDropped } from '../metrics/instruments.ts';
import { onlyListed } from './allow-list.ts';
import { idGenerator } from './span-ids.ts';
import { spansWritten, switchTracing } from './tracing.ts';

/** How long a process that stops waits until its last spans are exported. */
const lastExportMs = 5_000;

/** What the processor counts of itself; the type of its options leaves it out. */
const countingLost = { selfObsMeterProvider: { getMeter: meterOfLost } } as object;

/** Of all that the SDK counts, spans that were dropped or not exported are enough. */
function meterOfLost(): Meter {
  const meter = createNoopMeter();
  meter.createCounter = (name) => ({
    add(count, attributes) {
      const isLost = name === 'otel.sdk.processor.span.processed' && attributes?.['error.type'] !== undefined;
      if (isLost) telemetryDropped('spans', count);
    },
  });
  return meter;
}

/** Returns what stops it. No propagator is registered: which servers get our trace is for `outgoing.ts` to say. */
export function startTraces(options: TelemetryOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ headers: headersOf('TRACES', options) });
  const provider = new BasicTracerProvider({
    resource: resourceOf(options),
    idGenerator,
    spanProcessors: [onlyListed(new BatchSpanProcessor(exporter, countingLost))],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  // Only below a span of ours: what a process does by itself belongs to no turn.
  const undici = new UndiciInstrumentation({ requireParentforSpans: true });
  undici.setTracerProvider(provider);
  // It would also count requests, by addresses.
  undici.setMeterProvider({ getMeter: createNoopMeter });
  switchTracing(provider.getTracer('interlude'));
  return async () => {
    await spansWritten();
    switchTracing(null);
    undici.disable();
    await withTimeout(
      provider.shutdown().catch(() => undefined),
      lastExportMs,
      undefined,
      { ref: false },
    );
    trace.disable();
    context.disable();
  };
}
