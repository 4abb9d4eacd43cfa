/** What exported telemetry says of the process that it comes from, whatever it is: traces, metrics. */
import { randomUUID } from 'node:crypto';
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
