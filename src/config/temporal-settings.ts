/** How Temporal is reached. */
import { readFileSync } from 'node:fs';
import type { TemporalConfig } from './config.ts';
import type { Environment } from './environment-schema.ts';

export function temporalFrom(values: Environment): TemporalConfig {
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, 'utf8'));
  const tls = {
    serverName: values.TEMPORAL_TLS_SERVER_NAME,
    ca: read(values.TEMPORAL_TLS_SERVER_CA_CERT_PATH),
    cert: read(values.TEMPORAL_TLS_CLIENT_CERT_PATH),
    key: read(values.TEMPORAL_TLS_CLIENT_KEY_PATH),
  };
  const given = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
  return {
    address: values.TEMPORAL_ADDRESS,
    namespace: values.TEMPORAL_NAMESPACE,
    apiKey: values.TEMPORAL_API_KEY,
    tls:
      Object.keys(given).length > 0 ? given : (values.TEMPORAL_TLS ?? values.TEMPORAL_API_KEY !== undefined),
    taskQueue: values.TEMPORAL_TASK_QUEUE,
    port: values.TEMPORAL_PORT,
    uiPort: values.TEMPORAL_UI_PORT,
    deployment: {
      name: values.TEMPORAL_DEPLOYMENT_NAME ?? values.TEMPORAL_TASK_QUEUE,
      buildId: values.TEMPORAL_WORKER_BUILD_ID,
    },
  };
}
