/** Spans as the product begins them, by OpenTelemetry's API alone: nothing happens, and nothing is read, unless traces are on. */
import {
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  context,
  trace,
} from '@opentelemetry/api';
import type { Attributes, Context, Link, Span, SpanContext, SpanKind, Tracer } from '@opentelemetry/api';
import { errorType, own } from './names.ts';
import { withIds } from './span-ids.ts';

/** Never records. A tracer of the global provider would keep the SDK's tracer that it finds when it is first used. */
const off = new ProxyTracerProvider().getTracer('interlude');
let tracer: Tracer = off;

/** Null: off. */
export function switchTracing(to: Tracer | null): void {
  tracer = to ?? off;
}

export function isTracing(): boolean {
  return tracer !== off;
}

/** Undefined as an attribute: it is left out. */
export type Given = Record<string, Attributes[string] | null>;

export interface NewSpan {
  name: string;
  /** Null: a trace of its own. */
  parent: SpanContext | null;
  kind?: SpanKind;
  /** Absent: random. */
  ids?: { spanId: string; traceId?: string };
  attributes?: Given;
  links?: Link[];
  /** In epoch milliseconds; absent: now. */
  startTime?: number;
}

export function beginSpan({ name, parent, ids, attributes, startTime, ...rest }: NewSpan): Span {
  const options = {
    ...rest,
    ...(attributes && { attributes: without(attributes) }),
    ...(startTime !== undefined && { startTime }),
  };
  return withIds(ids, () => tracer.startSpan(name, options, contextOf(parent)));
}

const underWay = new Set<Promise<void>>();

/** For spans that are read together from the database first, which nothing waits for. */
export function inBackground(work: () => Promise<void>): void {
  if (!isTracing()) return;
  const done = work()
    .catch(() => undefined)
    .finally(() => underWay.delete(done));
  underWay.add(done);
}

/** Resolves when nothing is read from the database any more. */
export async function spansWritten(): Promise<void> {
  await Promise.all(underWay);
}

/** Runs `work` below the span, and ends it. */
export async function inSpan<T>(given: NewSpan, work: (span: Span) => Promise<T>): Promise<T> {
  const span = beginSpan(given);
  try {
    return await context.with(trace.setSpan(context.active(), span), () => work(span));
  } catch (error) {
    const type = typeOf(error);
    if (!endsInOrder.has(type)) failSpan(span, type);
    throw error;
  } finally {
    span.end();
  }
}

/** `type`: a code of ours, or a class of errors; never a message. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute(errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

export function linkTo(target: SpanContext | null | undefined, what: string): Link[] {
  return target ? [{ context: target, attributes: { [own.link]: what } }] : [];
}

/** In the form of W3C, which is how it is stored and sent. */
export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

const form = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Null where it is none, or not valid. */
export function fromTraceparent(text: unknown): SpanContext | null {
  const [, traceId, spanId, flags] = (typeof text === 'string' && form.exec(text)) || [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const found = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
  };
  return trace.isSpanContextValid(found) ? found : null;
}

function contextOf(parent: SpanContext | null): Context {
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function without(attributes: Given): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined),
  ) as Attributes;
}

/** The turn ends, or another attempt goes on. */
const endsInOrder = new Set(['TurnEnding', 'CancelledFailure', 'WorkerLeaving', 'WriteRefused']);

/** Failures made on purpose have a code of ours as their type. Of others, only the name of their class. */
function typeOf(error: unknown): string {
  const { failure, type, name } = Object(error) as {
    failure?: { type?: unknown };
    type?: unknown;
    name?: unknown;
  };
  const found = failure?.type ?? type ?? name;
  return typeof found === 'string' && /^[A-Za-z]{1,60}$/.test(found) ? found : '_OTHER';
}
