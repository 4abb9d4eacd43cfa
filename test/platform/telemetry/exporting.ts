/** Traces of what runs in the test's own process, sent to a receiver in it as a process of ours would. */
import { pino } from 'pino';
import { startTelemetry } from '../../../src/platform/telemetry/start-telemetry.ts';
import { startOtlpReceiver } from './otlp-receiver.ts';
import type { ExportedSpan, OtlpReceiver } from './otlp-receiver.ts';

export interface Exporting extends OtlpReceiver {
  /** All spans of the trace that a turn began, once `isThere` holds for them; oldest first. */
  trace(turnId: string, isThere: (spans: ExportedSpan[]) => boolean): Promise<ExportedSpan[]>;
}

/** As fast as tests need it. */
export const fastExport = { OTEL_BSP_SCHEDULE_DELAY: '20' };

export async function startExporting(env: Record<string, string> = {}): Promise<Exporting> {
  const receiver = await startOtlpReceiver();
  const before = { ...process.env };
  Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...fastExport, ...env });
  const stack = new AsyncDisposableStack();
  const options = {
    service: 'test',
    version: '0',
    logger: pino({ level: 'silent' }),
    secret: (name: string) => process.env[name],
  };
  await startTelemetry(
    { telemetry: { traces: true, metrics: undefined, trustsCallers: false }, servers: new Map() },
    options,
    stack,
  );
  const stop = async () => {
    await stack.disposeAsync();
    await receiver.stop();
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  };
  const traceOf = (turnId: string) =>
    receiver.spans
      .filter(({ traceId }) => traceId === turnId.replaceAll('-', ''))
      .toSorted((one, other) => one.start - other.start);
  return {
    ...receiver,
    async trace(turnId, isThere) {
      await receiver.until(() => isThere(traceOf(turnId)));
      return traceOf(turnId);
    },
    stop,
  };
}

/** Whether the last phase of the turn's own agent is there, which is written when the turn has ended. */
export function hasEnded(spans: ExportedSpan[]): boolean {
  const root = spans.find(({ parentId }) => parentId === '');
  return spans.some(
    ({ parentId, name, attributes }) =>
      parentId === root?.spanId &&
      name.startsWith('invoke_agent') &&
      attributes['interlude.turn.status'] !== 'waiting',
  );
}

/** Names in the form of a tree; children in the order in which they began. */
export function treeOf(spans: ExportedSpan[], parentId = ''): string[] {
  return spans
    .filter((span) => span.parentId === parentId)
    .flatMap((span) => [span.name, ...treeOf(spans, span.spanId).map((name) => `  ${name}`)]);
}
