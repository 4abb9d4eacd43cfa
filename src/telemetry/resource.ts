/** What all exporters send: which process they are of, and the headers that a collector asks for. */
import { randomUUID } from 'node:crypto';
import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import type { Logger } from 'pino';

export interface TelemetryOptions {
  /** The name of the process, unless OTEL_SERVICE_NAME gives another one. */
  service: string;
  version: string;
  logger: Logger;
  /** Reads a variable that may be in a file, as it is by now. */
  secret: (name: string) => string | undefined;
}

const instance = randomUUID();

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES come before what we say ourselves. */
export function resourceOf({ service, version }: TelemetryOptions): Resource {
  return resourceFromAttributes({
    'service.name': service,
    'service.version': version,
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
}

/** Read for each export: they may be in a file, and change. */
export function headersOf(
  signal: 'TRACES' | 'METRICS',
  { secret }: TelemetryOptions,
): () => Promise<Record<string, string>> {
  return async () =>
    parseKeyPairsIntoRecord(
      secret(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`) ?? secret('OTEL_EXPORTER_OTLP_HEADERS'),
    );
}
