/**
 * Precedes every exporter: attributes and events that are not on the list are dropped, and so is the text of errors.
 * Libraries write into spans what they see, such as addresses with their query, SQL, and the words of others.
 */
import type { Attributes } from '@opentelemetry/api';
import type { ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base';
import { exportedNames } from './names.ts';

export function onlyListed(next: SpanProcessor): SpanProcessor {
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

/** The same, where all are on the list, as in spans of ours. */
function listed(attributes: Attributes = {}): Attributes {
  if (Object.keys(attributes).every((name) => exportedNames.has(name))) return attributes;
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => exportedNames.has(name)));
}
