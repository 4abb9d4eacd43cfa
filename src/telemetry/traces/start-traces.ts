/** The SDK of traces: everything here is loaded only where traces are exported. Its own settings are OTEL_ variables. */
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '../../time/with-timeout.ts';
import { resourceOf } from '../resource.ts';
import type { TelemetryOptions } from '../resource.ts';
import { onlyListed } from './allow-list.ts';
import { idGenerator } from './span-ids.ts';
import { spansWritten, switchTracing } from './tracing.ts';

/** How long a process that stops waits until its last spans are exported. */
const lastExportMs = 5_000;

/** Returns what stops it. No propagator is registered: which servers get our trace is for `outgoing.ts` to say. */
export function startTraces(options: TelemetryOptions): () => Promise<void> {
  // What is dropped is counted there; the type of the processor leaves it out.
  const counting = { selfObsMeterProvider: metrics.getMeterProvider() };
  const { secret } = options;
  // They may be in a file, and change.
  const headers = async () =>
    parseKeyPairsIntoRecord(
      secret('OTEL_EXPORTER_OTLP_TRACES_HEADERS') ?? secret('OTEL_EXPORTER_OTLP_HEADERS'),
    );
  const provider = new BasicTracerProvider({
    resource: resourceOf(options),
    idGenerator,
    spanProcessors: [
      onlyListed(new BatchSpanProcessor(new OTLPTraceExporter({ headers, ...counting }), counting as object)),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  // Only below a span of ours: what a process does by itself belongs to no turn.
  const undici = new UndiciInstrumentation({ requireParentforSpans: true });
  undici.setTracerProvider(provider);
  switchTracing(true);
  return async () => {
    await spansWritten();
    switchTracing(false);
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
