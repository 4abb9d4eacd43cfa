/** Every variable of the environment that the service reads, and its default. */
import { z } from 'zod';
import { duration } from './duration.ts';
import {
  baseUrl,
  hostNames,
  httpUrl,
  keys,
  metricsExporters,
  origins,
  otlpProtocol,
  plainName,
  port,
  positive,
  returnUrls,
  signingKeys,
  trustedProxies,
} from './variable-kinds.ts';

export const environmentSchema = z.object({
  PORT: z.coerce.number('write a port number').int().min(1).max(65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  INTERNAL_PORT: port.optional(),
  INTERNAL_HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: baseUrl.optional(),
  TRUST_PROXY: trustedProxies.default(false),
  CORS_ORIGINS: origins.default([]),
  ALLOWED_HOSTS: hostNames.default([]),
  RETURN_URLS: returnUrls.default([]),
  BODY_LIMIT: positive.default(1_048_576),
  IMAGES_PER_MESSAGE: positive.default(8),
  IMAGE_MAX_BYTES: positive.default(3_932_160),
  IMAGES_MAX_BYTES_PER_MESSAGE: positive.default(7_864_320),
  IMAGES_MAX_BYTES_PER_CONVERSATION: positive.default(15_728_640),
  RATE_LIMIT_PER_MINUTE: positive.default(600),
  OPEN_REQUESTS_PER_USER: positive.default(100),
  OPEN_REQUESTS_PER_ADDRESS: positive.default(2_000),
  INTERLUDE_CONFIG: z.string().optional(),
  INTERLUDE_DATA: z.string().default('.interlude'),
  INTERLUDE_KEYS: keys.optional(),
  DATABASE_URL: z
    .string()
    .regex(
      /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
      'write sqlite:<path> or postgres://<user>:<password>@<host>/<database>',
    )
    .optional(),
  DATABASE_DIRECT_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/.+$/, 'write postgres://<user>:<password>@<host>/<database>')
    .optional(),
  DATABASE_PASSWORD: z.string().optional(),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^(?:\[[\da-f:.]+\]|[^:[\]]+):\d+$/i, 'write host:port, like temporal:7233 or [::1]:7233')
    .optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS: z.stringbool('write true or false').optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().optional(),
  TEMPORAL_TASK_QUEUE: plainName.default('interlude'),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_UI_URL: baseUrl.optional(),
  TRACE_URL: z
    .string()
    .regex(/^https?:\/\/\S*\{traceId\}/, 'write an address with {traceId} in it')
    .optional(),
  TEMPORAL_DEPLOYMENT_NAME: plainName.optional(),
  TEMPORAL_WORKER_BUILD_ID: plainName.optional(),
  AUTH_ISSUER: httpUrl.optional(),
  AUTH_AUDIENCE: z.string().default('interlude'),
  AUTH_TENANT_CLAIM: z.string().optional(),
  AUTH_OPERATOR_ROLE: z.string().optional(),
  AUTH_OPERATOR_CLAIM: z.string().default('roles'),
  AUTH_CONTENTS_ROLE: z.string().optional(),
  AUTH_CLIENT_ID: z.string().optional(),
  AUTH_CLIENT_SECRET: z.string().optional(),
  AUTH_PROGRAM_CLIENT_ID: z.string().optional(),
  AUTH_PROGRAM_SCOPE: z.string().optional(),
  NANGO_HOST: baseUrl.optional(),
  NANGO_PUBLIC_URL: baseUrl.optional(),
  NANGO_WEBSOCKETS_PATH: z.string().regex(/^\//, 'begin with /').default('/'),
  NANGO_API_KEY: z.string().optional(),
  NANGO_WEBHOOK_SIGNING_KEY: z.string().optional(),
  SLACK_SIGNING_SECRET: z.string().optional(),
  SLACK_CLIENT_ID: z.string().optional(),
  SLACK_CLIENT_SECRET: z.string().optional(),
  SLACK_BOT_TOKEN: z
    .string()
    .regex(/^xoxb-/, 'write the bot token, which begins with xoxb-')
    .optional(),
  SLACK_TENANT: z.string().default('default'),
  SLACK_APP_TOKEN: z
    .string()
    .regex(/^xapp-/, 'write the app-level token, which begins with xapp-')
    .optional(),
  SLACK_API_URL: baseUrl.default('https://slack.com/api'),
  ELICITATION_TIMEOUT: duration.default(600_000),
  ELICITATION_RETENTION: duration.default(30 * 24 * 3_600_000),
  ELICITATION_MAX_OPEN: positive.default(20),
  ELICITATION_MAX_OPEN_PER_TURN: positive.optional(),
  A2A_SIGNING_KEY: signingKeys.default([]),
  A2A_PUSH_TARGETS: z.enum(['public', 'local']).default('public'),
  A2A_PUSH_DEADLINE: duration.default(3_600_000),
  DELEGATION_MAX_DEPTH: positive.default(5),
  DELEGATION_MAX_PER_STEP: positive.default(10),
  SHUTDOWN_GRACE_PERIOD: duration.optional(),
  WORKER_CALLS: positive.default(100),
  WORKER_HELD_CALLS: positive.default(300),
  TURN_TIMEOUT: duration.optional(),
  OTEL_SDK_DISABLED: z.stringbool('write true or false').default(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional(),
  OTEL_METRICS_EXPORTER: metricsExporters.optional(),
  OTEL_METRIC_EXPORT_INTERVAL: positive.default(60_000),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: httpUrl.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: otlpProtocol.optional(),
  TRUST_TRACEPARENT: z.stringbool('write true or false').default(false),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DEMO_IDENTITY_PORT: port.default(3001),
  DEMO_TRACKER_PORT: port.default(3002),
  DEMO_TRAVEL_PORT: port.default(3003),
  DEMO_DESK_PORT: port.default(3004),
  DEMO_FLIGHTS_PORT: port.default(3005),
  DEMO_DESK_SECRET: z.string().optional(),
});

export type Environment = z.infer<typeof environmentSchema>;
