/** An OTLP receiver over HTTP, as a collector is one: keeps the spans it is sent, and every byte of them and of metrics. */
import protobuf from 'protobufjs';
import { serve } from '../../servers/serve.ts';
import { createWaiting } from '../../waiting.ts';

export interface ExportedSpan {
  traceId: string;
  spanId: string;
  /** Empty for a root. */
  parentId: string;
  name: string;
  /** As OTLP numbers them: 1 internal, 2 server, 3 client. */
  kind: number;
  /** In epoch milliseconds. */
  start: number;
  end: number;
  attributes: Record<string, unknown>;
  events: { name: string; at: number; attributes: Record<string, unknown> }[];
  links: { traceId: string; spanId: string; attributes: Record<string, unknown> }[];
  isError: boolean;
  message: string;
  /** The process that has sent it. */
  service: string;
}

export type OtlpReceiver = Awaited<ReturnType<typeof startOtlpReceiver>>;

/** The part of OTLP that spans need (opentelemetry-proto 1.x). */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { repeated ResourceSpans resourceSpans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopeSpans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes traceId = 1; bytes spanId = 2; bytes parentSpanId = 4; string name = 5; int32 kind = 6;
    fixed64 start = 7; fixed64 end = 8; repeated KeyValue attributes = 9; repeated Event events = 11;
    repeated Link links = 13; Status status = 15;
  }
  message Event { fixed64 time = 1; string name = 2; repeated KeyValue attributes = 3; }
  message Link { bytes traceId = 1; bytes spanId = 2; repeated KeyValue attributes = 4; }
  message Status { string message = 2; int32 code = 3; }
  message KeyValue { string key = 1; Value value = 2; }
  message Value {
    oneof is { string text = 1; bool truth = 2; int64 whole = 3; double number = 4; List list = 5; }
  }
  message List { repeated Value values = 1; }
`);
const request = root.lookupType('Request');

interface Value {
  text?: string;
  truth?: boolean;
  whole?: { toString(): string };
  number?: number;
  list?: { values?: Value[] };
}
type Attributes = { key: string; value?: Value }[];
interface WireSpan {
  traceId: Uint8Array;
  spanId: Uint8Array;
  parentSpanId: Uint8Array;
  name: string;
  kind: number;
  start: { toString(): string };
  end: { toString(): string };
  attributes: Attributes;
  events: { time: { toString(): string }; name: string; attributes: Attributes }[];
  links: { traceId: Uint8Array; spanId: Uint8Array; attributes: Attributes }[];
  status?: { code: number; message: string };
}
interface WireRequest {
  resourceSpans: { resource: { attributes: Attributes }; scopeSpans: { spans: WireSpan[] }[] }[];
}

export async function startOtlpReceiver() {
  const spans: ExportedSpan[] = [];
  const bodies: Buffer[] = [];
  const headers: Record<string, unknown>[] = [];
  const waiting = createWaiting();
  let gate: Promise<void> | undefined;

  const { origin, stop } = await serve(async ({ request: { url, headers: sent }, response, bytes }) => {
    await gate;
    bodies.push(bytes);
    headers.push(sent);
    if (url === '/v1/traces') spans.push(...decode(bytes));
    waiting.wake();
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });

  return {
    url: origin,
    spans,
    headers,
    /** All that came, undecoded. */
    bytes: () => Buffer.concat(bodies),
    /** Resolves when there are spans for which this holds. */
    until: (isThere: (spans: ExportedSpan[]) => boolean) =>
      waiting.until(() => isThere(spans)).then(() => undefined),
    /** Answers to nothing until `go` is called. */
    hang() {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return {
        go() {
          gate = undefined;
          resolve();
        },
      };
    },
    clear() {
      spans.length = 0;
      bodies.length = 0;
      headers.length = 0;
    },
    stop,
  };
}

function decode(body: Buffer): ExportedSpan[] {
  const { resourceSpans } = request.toObject(request.decode(body), {
    arrays: true,
    defaults: true,
    oneofs: true,
  }) as unknown as WireRequest;
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name']);
    return scopeSpans.flatMap((scope) => scope.spans.map((span) => toSpan(span, service)));
  });
}

function toSpan(span: WireSpan, service: string): ExportedSpan {
  return {
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentId: hex(span.parentSpanId),
    name: span.name,
    kind: span.kind,
    start: toMs(span.start),
    end: toMs(span.end),
    attributes: valuesOf(span.attributes),
    events: span.events.map(({ time, name, attributes }) => ({
      name,
      at: toMs(time),
      attributes: valuesOf(attributes),
    })),
    links: span.links.map((link) => ({
      traceId: hex(link.traceId),
      spanId: hex(link.spanId),
      attributes: valuesOf(link.attributes),
    })),
    isError: span.status?.code === 2,
    message: span.status?.message ?? '',
    service,
  };
}

function valuesOf(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value = {} }) => [key, valueOf(value)]));
}

function valueOf({ is, ...value }: Value & { is?: keyof Value }): unknown {
  switch (is) {
    case 'whole':
      return Number(value.whole);
    case 'list':
      return value.list?.values?.map(valueOf);
    default:
      return is && value[is];
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function toMs(nanoseconds: { toString(): string }): number {
  return Number(BigInt(nanoseconds.toString()) / 1_000n) / 1_000;
}
