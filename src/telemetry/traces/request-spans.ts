/** The span of the HTTP request that is being answered, for what it does to name it. */
import { context, createContextKey, SpanKind, trace } from '@opentelemetry/api';
import type { Context, Span, SpanContext } from '@opentelemetry/api';
import { http } from './names.ts';
import { beginSpan, failSpan, fromTraceparent, linkTo } from './tracing.ts';

export interface RequestSpan {
  span: Span;
  /** The span of the caller, as it names it. */
  caller: SpanContext | null;
  /** Traces of callers go on in ours. Otherwise they are only linked to it. */
  isTrusted: boolean;
}

const key = createContextKey('interlude request');

export function currentRequest(): RequestSpan | undefined {
  return context.active().getValue(key) as RequestSpan | undefined;
}

interface Request {
  method: string;
  /** As it is written in the program, not as it was asked for; absent: there is none. */
  route: string | undefined;
  traceparent: unknown;
}

/** In the context that comes back, the request is the current one. */
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
