/**
 * Spans of HTTP requests: the current incoming request, and the trace context of outgoing ones. Servers get the id of the
 * calling span in W3C's form, unless the agents file says `traceparent: false`; never baggage or trace state.
 */
import { context, createContextKey, isSpanContextValid, SpanKind, trace } from '@opentelemetry/api';
import type { Context, Span, SpanContext } from '@opentelemetry/api';
import { http, mcp } from './names.ts';
import { beginSpan, failSpan, fromTraceparent, linkTo, toTraceparent } from './tracing.ts';
import type { ServerConfig } from '../../config/config.ts';

interface RequestSpan {
  span: Span;
  /** The caller's span, from its `traceparent`. */
  caller: SpanContext | null;
  /** Whether our trace continues the caller's. Otherwise it is only linked to it. */
  isTrusted: boolean;
}

const key = createContextKey('interlude request');

export function currentRequest(): RequestSpan | undefined {
  return context.active().getValue(key) as RequestSpan | undefined;
}

interface Request {
  method: string;
  /** The pattern of the route, not the requested path; absent if there is none. */
  route: string | undefined;
  traceparent: unknown;
}

/** In the returned context, this is the current request. */
export function beginRequest(
  { method, route, traceparent }: Request,
  isTrusted: boolean,
): { context: Context; end(status: number): void } {
  const caller = fromTraceparent(traceparent);
  const span = beginSpan({
    name: route === undefined ? method : `${method} ${route}`,
    parent: isTrusted ? caller : null,
    kind: SpanKind.SERVER,
    attributes: { [http.method]: method, [http.route]: route ?? null },
    links: isTrusted ? [] : linkTo(caller, 'caller'),
  });
  const request: RequestSpan = { span, caller, isTrusted };
  return {
    context: trace.setSpan(context.active().setValue(key, request), span),
    end(status) {
      span.setAttribute(http.status, status);
      if (status >= 500) failSpan(span, String(status));
      span.end();
    },
  };
}

/** For HTTP headers, and for `_meta` in MCP. */
export function outgoingTrace({ traceparent }: Pick<ServerConfig, 'traceparent'>): { traceparent?: string } {
  const span = traceparent === false ? undefined : trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? { traceparent: toTraceparent(span) } : {};
}

/** Adds the MCP attributes to the span of the tool call. */
export function setMcpAttributes(method: string, protocolVersion: string | undefined): void {
  trace.getActiveSpan()?.setAttributes({
    [mcp.method]: method,
    ...(protocolVersion !== undefined && { [mcp.protocol]: protocolVersion }),
  });
}

/**
 * Requests have spans only below a span of ours. For requests that find out what a server supports, whose refusals are not
 * errors.
 */
export function withoutSpans<T>(send: () => T): T {
  return context.with(trace.deleteSpan(context.active()), send);
}
