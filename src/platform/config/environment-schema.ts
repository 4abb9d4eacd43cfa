/** Every variable of the environment that the service reads, its kind and its default. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { imageLimits } from '@interlude-ai/core/images.ts';
import { parseKeys, SealingError } from '../../credentials/sealing/key-ring.ts';
import { age, duration } from './duration.ts';
import { readSigningKeys } from './signing-keys.ts';

const port = z.coerce.number('write a port number, for example 3000').int().min(0).max(65_535);
const positive = z.coerce.number('write a whole number').int().positive();
/** The name is used in queries, and `:` is a separator there. */
const plainName = z.string().regex(/^[\w.-]{1,128}$/, 'write letters, digits, . _ and -');
const httpUrl = z.url({ protocol: /^https?$/ });
const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, ''));

/** Trusted proxies: some, or all callers. Fastify would fail with anything else. */
const trustedProxies = z
  .string()
  .transform((text): string[] | boolean => {
    const word = text.trim().toLowerCase();
    return word === 'true' || word === 'false' ? word === 'true' : parts(text);
  })
  .refine((trusted) => typeof trusted === 'boolean' || trusted.every(isProxy), {
    error:
      'write addresses or networks, separated by commas, or true for a service that only its proxies reach',
  });

/** The names are from `proxy-addr`. */
function isProxy(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const version = isIP(address);
  const isNetwork =
    bits === undefined ||
    isIP(bits) === 4 ||
    (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isNetwork && more.length === 0;
}

const origins = z
  .string()
  .transform(parts)
  .refine((list) => list.every(isOrigin), {
    error: 'write the origins of pages, like https://app.example, separated by commas and without a path',
  });

const hostNames = z
  .string()
  .transform((text) => parts(text.toLowerCase()))
  .refine((names) => names.every((name) => /^[\w-]+(\.[\w-]+)*$/.test(name)), {
    error: 'write host names without scheme and port, like interlude.internal, separated by commas',
  });

const returnUrls = z
  .string()
  .transform(parts)
  .refine((urls) => urls.every(isReturnUrl), {
    error: 'write where people may be sent back to, like https://app.example/chat/, separated by commas',
  });

/** `k1:…,k2:…`, kept as written. */
const keys = z.string().check(({ value, issues }) => {
  const message = faultOfKeys(value);
  if (message !== null) issues.push({ code: 'custom', input: undefined, message });
});

/** A private JWK, or a set of them. */
const signingKeys = z.string().transform((text, { addIssue }) => {
  const keys = readSigningKeys(text);
  if (keys) return keys;
  addIssue({
    code: 'custom',
    message:
      'write a private key as a JWK (RFC 7517) of type EC with P-256 or P-384, OKP with Ed25519, or RSA, or a set of them: {"keys":[…]}, newest first',
  });
  return z.NEVER;
});

const metricsExporters = z
  .string()
  .transform(parts)
  .pipe(
    z.array(z.enum(['otlp', 'prometheus', 'none'], 'write otlp, prometheus, both with a comma, or none')),
  );

const otlpProtocol = z.enum(['http/protobuf'], 'write http/protobuf; no other is supported');

function parts(text: string): string[] {
  return text.split(',').map((part) => part.trim());
}

/** As browsers write it; another spelling would never match. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** With a path, so that https://app.example is not a prefix of https://app.example.evil. */
function isReturnUrl(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash, href } = new URL(text);
  return username + password + search + hash === '' && (href === text || href === `${text}/`);
}

function faultOfKeys(text: string): string | null {
  try {
    parseKeys(text);
    return null;
  } catch (error) {
    if (error instanceof SealingError) return error.message.replace('INTERLUDE_KEYS: ', '');
    throw error;
  }
}

export const environmentSchema = z.object({
  PORT: z.coerce.number('write a port number, for example 3000').int().min(1).max(65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  INTERNAL_PORT: port.optional(),
  INTERNAL_HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: baseUrl.optional(),
  TRUST_PROXY: trustedProxies.default(false),
  CORS_ORIGINS: origins.default([]),
  ALLOWED_HOSTS: hostNames.default([]),
  RETURN_URLS: returnUrls.default([]),
  BODY_LIMIT: positive.default(1_048_576),
  IMAGES_PER_MESSAGE: positive.default(imageLimits.perMessage),
  IMAGE_MAX_BYTES: positive.default(imageLimits.maxBytes),
  IMAGES_MAX_BYTES_PER_MESSAGE: positive.default(imageLimits.maxBytesPerMessage),
  IMAGES_MAX_BYTES_PER_CONVERSATION: positive.default(15_728_640),
  RATE_LIMIT_PER_MINUTE: positive.default(600),
  RATE_LIMIT_PER_MINUTE_PER_TENANT: positive.optional(),
  OPEN_REQUESTS_PER_USER: positive.default(100),
  OPEN_REQUESTS_PER_TENANT: positive.optional(),
  OPEN_REQUESTS_PER_ADDRESS: positive.default(2_000),
  LIVE_TURNS_PER_USER: positive.default(100),
  LIVE_TURNS_PER_TENANT: positive.optional(),
  TOKENS_PER_DAY_PER_USER: positive.optional(),
  TOKENS_PER_DAY_PER_TENANT: positive.optional(),
  QUEUED_TURNS_MAX: positive.default(1_000),
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
  // The Worker Controller names it <namespace>/<name>.
  TEMPORAL_DEPLOYMENT_NAME: z
    .string()
    .regex(/^[\w./-]{1,128}$/, 'write letters, digits, . _ / and -')
    .optional(),
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
  ELICITATION_RETENTION: age.default(30 * 24 * 3_600_000),
  SEALED_STATE_RETENTION: age.default(30 * 24 * 3_600_000),
  IMAGE_RETENTION: age.optional(),
  TURN_LOG_RETENTION: age.optional(),
  MESSAGE_RETENTION: age.optional(),
  CONNECTION_RETENTION: age.optional(),
  AUDIT_RETENTION: age.optional(),
  ELICITATION_MAX_OPEN: positive.default(20),
  ELICITATION_MAX_OPEN_PER_TURN: positive.optional(),
  ELICITATION_MAX_OPEN_PER_TENANT: positive.optional(),
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
