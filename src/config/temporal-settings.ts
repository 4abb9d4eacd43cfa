/** How Temporal is reached. */
import type { TemporalConfig, TemporalLogin } from './config.ts';
import type { Environment } from './environment-schema.ts';
import { watchedFile } from './secret-files.ts';

/** `secret`: the current value of a variable. */
export function temporalFrom(
  values: Environment,
  secret: (name: string) => string | undefined,
): TemporalConfig {
  const file = (path: string | undefined) => (path === undefined ? undefined : watchedFile(path));
  const files = {
    ca: file(values.TEMPORAL_TLS_SERVER_CA_CERT_PATH),
    cert: file(values.TEMPORAL_TLS_CLIENT_CERT_PATH),
    key: file(values.TEMPORAL_TLS_CLIENT_KEY_PATH),
  };
  const currentLogin = (): TemporalLogin => {
    const entries = Object.entries(files).map(([name, read]) => [name, read?.()]);
    const given = [['serverName', values.TEMPORAL_TLS_SERVER_NAME], ...entries].filter(
      ([, value]) => value !== undefined,
    );
    return {
      apiKey: secret('TEMPORAL_API_KEY'),
      tls:
        given.length > 0
          ? Object.fromEntries(given)
          : (values.TEMPORAL_TLS ?? values.TEMPORAL_API_KEY !== undefined),
    };
  };
  return {
    address: values.TEMPORAL_ADDRESS,
    namespace: values.TEMPORAL_NAMESPACE,
    ...currentLogin(),
    currentLogin,
    taskQueue: values.TEMPORAL_TASK_QUEUE,
    port: values.TEMPORAL_PORT,
    uiPort: values.TEMPORAL_UI_PORT,
    uiUrl: values.TEMPORAL_UI_URL,
    deployment: {
      name: values.TEMPORAL_DEPLOYMENT_NAME ?? values.TEMPORAL_TASK_QUEUE,
      buildId: values.TEMPORAL_WORKER_BUILD_ID,
    },
  };
}
