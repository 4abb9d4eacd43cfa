/** Starts traces. The SDK is imported here, so that it is not loaded without them. Its own settings are OTEL_ variables. */
import { context, createNoopMeter, trace } from '@opentelemetry/api';
import type { Attributes, Meter } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { withTimeout } from '@interlude-ai/core/with-timeout.ts';
import { headersOf, resourceOf, viaProxy } from '../resource.ts';
import type { TelemetryOptions } from '../resource.ts';
import { telemetryDropped } from '../metrics/instruments.ts';
import { idGenerator, spansWritten, switchTracing } from './tracing.ts';
import { exportedNames } from './names.ts';

/** How long a stopping process waits for its last spans to be exported. */
const lastExportMs = 5_000;

/** The processor's own metrics, an option that its type does not declare. */
const countingLost = { selfObsMeterProvider: { getMeter: meterOfLost } } as object;

/** Only counts spans that were dropped or not exported. */
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

/**
 * Returns a function that stops it. No propagator is registered: `requests.ts` decides which servers get our trace context.
 */
export function startTraces(options: TelemetryOptions): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ headers: headersOf('TRACES', options), ...viaProxy(options) });
  const provider = new BasicTracerProvider({
    resource: resourceOf(options),
    idGenerator,
    spanProcessors: [onlyListed(new BatchSpanProcessor(exporter, countingLost))],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  // Only below a span of ours: other requests of a process belong to no turn.
  const undici = new UndiciInstrumentation({ requireParentforSpans: true });
  undici.setTracerProvider(provider);
  // It would also count requests by address.
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

/**
 * Removes attributes and events whose names are not allowed, and error messages, from every exported span. Libraries put into spans
 * what they see: addresses with their query, SQL, and messages.
 */
function onlyListed(next: SpanProcessor): SpanProcessor {
  return {
    onStart: (span, context) => next.onStart(span, context),
    onEnd: (span) => next.onEnd(listedPart(span)),
    forceFlush: () => next.forceFlush(),
    shutdown: () => next.shutdown(),
  };
}

function listedPart(span: ReadableSpan): ReadableSpan {
  const context = span.spanContext();
  const events = span.events.filter(({ name }) => exportedNames.has(name));
  return {
    name: span.name,
    kind: span.kind,
    spanContext: () => context,
    ...(span.parentSpanContext && { parentSpanContext: span.parentSpanContext }),
    startTime: span.startTime,
    endTime: span.endTime,
    duration: span.duration,
    ended: span.ended,
    resource: span.resource,
    instrumentationScope: span.instrumentationScope,
    status: { code: span.status.code },
    attributes: listed(span.attributes),
    links: span.links.map((link) => ({ ...link, attributes: listed(link.attributes) })),
    events: events.map((event) => ({ ...event, attributes: listed(event.attributes) })),
    droppedAttributesCount: span.droppedAttributesCount,
    droppedEventsCount: span.droppedEventsCount + span.events.length - events.length,
    droppedLinksCount: span.droppedLinksCount,
  };
}

/** Returns the same object if all names are allowed, as in our spans. */
function listed(attributes: Attributes = {}): Attributes {
  if (Object.keys(attributes).every((name) => exportedNames.has(name))) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => exportedNames.has(name)));
}
