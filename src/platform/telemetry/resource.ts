/** What all exporters need: the identity of this process, and the headers for the collector. */
import { randomUUID } from 'node:crypto';
import { parseKeyPairsIntoRecord } from '@opentelemetry/core';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import type { Resource } from '@opentelemetry/resources';
import type { Logger } from 'pino';

export interface TelemetryOptions {
  /** The name of the process; OTEL_SERVICE_NAME overrides it. */
  service: string;
  version: string;
  logger: Logger;
  /** Reads the current value of a variable that may be in a file. */
  secret: (name: string) => string | undefined;
}

const instance = randomUUID();

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
export function resourceOf({ service, version }: TelemetryOptions): Resource {
  return resourceFromAttributes({
    'service.name': service,
    'service.version': version,
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
}

/** The exporters make agents of their own, which know no proxy. */
export function viaProxy({ secret }: TelemetryOptions) {
  const names = ['http_proxy', 'https_proxy', 'no_proxy'];
  const proxyEnv = Object.fromEntries(names.map((name) => [name, secret(name)]));
  return proxyEnv['no_proxy'] !== undefined && { httpAgentOptions: { keepAlive: true, proxyEnv } };
}

/** Read for each export, because they may be in a file that changes. */
export function headersOf(
  signal: 'TRACES' | 'METRICS',
  { secret }: TelemetryOptions,
): () => Promise<Record<string, string>> {
  return async () =>
    parseKeyPairsIntoRecord(
      secret(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`) ?? secret('OTEL_EXPORTER_OTLP_HEADERS'),
    );
}
