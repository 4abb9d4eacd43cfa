/**
 * Begins our spans, with OpenTelemetry's API alone: nothing is read or recorded unless traces are on.
 *
 * Ids of spans are derived from the turn, the phase or the question, so several processes can refer to the same span, and a
 * span that is written twice keeps its id.
 */
import { hash, randomUUID } from 'node:crypto';
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

/** Never records. A tracer of the global provider would keep the SDK's tracer that was set when it was first used. */
const off = new ProxyTracerProvider().getTracer('interlude');
let tracer: Tracer = off;

export function switchTracing(to: Tracer | null): void {
  tracer = to ?? off;
}

export function isTracing(): boolean {
  return tracer !== off;
}

/** Null attributes are left out. */
export type SpanAttributes = Record<string, Attributes[string] | null>;

export interface NewSpan {
  name: string;
  /** Null: it begins a new trace. */
  parent: SpanContext | null;
  kind?: SpanKind;
  /** Random if absent. */
  ids?: { spanId: string; traceId?: string };
  attributes?: SpanAttributes;
  links?: Link[];
  /** In epoch milliseconds; now if absent. */
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

/** For spans whose data has to be read from the database. Nothing waits for them. */
export function inBackground(work: () => Promise<void>): void {
  if (!isTracing()) return;
  const done = work()
    .catch(() => undefined)
    .finally(() => underWay.delete(done));
  underWay.add(done);
}

/** Resolves when all background work is done. */
export async function spansWritten(): Promise<void> {
  await Promise.all(underWay);
}

/** Runs `work` below the span, and ends the span. */
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

/** `type`: a code of ours, or the class of an error; never a message. */
export function failSpan(span: Span, type: string): void {
  span.setAttribute(errorType, type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

export function linkTo(target: SpanContext | null | undefined, what: string): Link[] {
  return target ? [{ context: target, attributes: { [own.link]: what } }] : [];
}

/** In W3C's form, in which it is stored and sent. */
export function toTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

const form = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;

/** Null if it is invalid. */
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

function without(attributes: SpanAttributes): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined),
  ) as Attributes;
}

/** These are not failures: the turn ends, or another attempt goes on. */
const endsInOrder = new Set(['TurnEnding', 'CancelledFailure', 'WorkerLeaving', 'WriteRefused']);

/** Our own failures have a code as their type. Of others, only the name of the class is used. */
function typeOf(error: unknown): string {
  const { failure, type, name } = Object(error) as {
    failure?: { type?: unknown };
    type?: unknown;
    name?: unknown;
  };
  const found = failure?.type ?? type ?? name;
  return typeof found === 'string' && /^[A-Za-z]{1,60}$/.test(found) ? found : '_OTHER';
}

export function spanIdOf(kind: 'turn' | 'phase' | 'asked' | 'wait' | 'tool', ...of: string[]): string {
  return hash('sha256', JSON.stringify([kind, ...of])).slice(0, 16);
}

/** A turn's id is random and as long as a trace id. */
export function traceIdOf(turnId: string): string {
  const hex = turnId.replaceAll('-', '').toLowerCase();
  return /^[0-9a-f]{32}$/.test(hex) ? hex : hash('sha256', turnId).slice(0, 32);
}

interface Ids {
  spanId: string;
  /** Only for a span without a parent. */
  traceId?: string;
}

let next: Ids | undefined;

/** The span that `start` begins gets these ids. */
function withIds<T>(ids: Ids | undefined, start: () => T): T {
  next = ids;
  try {
    return start();
  } finally {
    next = undefined;
  }
}

/** `randomUUID` is the cheapest source of random bytes in Node, which caches them. */
export const idGenerator = {
  generateSpanId: () => next?.spanId ?? traceIdOf(randomUUID()).slice(16),
  generateTraceId: () => next?.traceId ?? traceIdOf(randomUUID()),
};
