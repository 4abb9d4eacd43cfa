/**
 * What servers get to know of our trace: the id of the span that calls them, in W3C's form, unless the agents file says
 * `traceparent: false`. Neither baggage nor trace state leaves us.
 */
import { context, isSpanContextValid, trace } from '@opentelemetry/api';
import type { ServerConfig } from '../../config/config.ts';
import { mcp } from './names.ts';
import { toTraceparent } from './tracing.ts';

/** For HTTP headers, and for `_meta` of MCP. */
export function outgoingTrace({ traceparent }: Pick<ServerConfig, 'traceparent'>): { traceparent?: string } {
  const span = traceparent === false ? undefined : trace.getActiveSpan()?.spanContext();
  return span && isSpanContextValid(span) ? { traceparent: toTraceparent(span) } : {};
}

/** The span of a tool call is that of its request over MCP, too. */
export function noteMcpRequest(method: string, protocolVersion: string | undefined): void {
  trace.getActiveSpan()?.setAttributes({
    [mcp.method]: method,
    ...(protocolVersion !== undefined && { [mcp.protocol]: protocolVersion }),
  });
}

/** Requests have spans only below one of ours. Where a request finds out what a server speaks, a refusal is an answer and no error. */
export function withoutSpans<T>(send: () => T): T {
  return context.with(trace.deleteSpan(context.active()), send);
}
