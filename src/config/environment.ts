/** The environment: every variable we read, its default, and what is only wrong in combination. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseKeys, SealingError } from '../credentials/sealing/key-ring.ts';
import { duration } from './duration.ts';
import { isLoopbackHost } from '../elicitation/loopback-host.ts';
import { whatToWrite } from './problem-messages.ts';

const port = z.coerce.number('write a port number').int().min(0).max(65_535);
const positive = z.coerce.number('write a whole number').int().positive();
/** Goes into queries, and `:` separates the two. */
const plainName = z.string().regex(/^[\w.-]{1,128}$/, 'write letters, digits, . _ and -');
const httpUrl = z.url({ protocol: /^https?$/ });

const environmentSchema = z.object({
  PORT: z.coerce.number('write a port number').int().min(1).max(65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: httpUrl.transform(withoutSlash).optional(),
  TRUST_PROXY: z
    .string()
    .regex(/^[\w.:/, -]+$/, 'write addresses or networks, separated by commas')
    .transform((text) => text.split(',').map((part) => part.trim()))
    .default([]),
  CORS_ORIGINS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((origins) => origins.every(isOrigin), {
      error: 'write the origins of pages, like https://app.example, separated by commas and without a path',
    })
    .default([]),
  ALLOWED_HOSTS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim().toLowerCase()))
    .refine((names) => names.every((name) => /^[\w-]+(\.[\w-]+)*$/.test(name)), {
      error: 'write host names without scheme and port, like interlude.internal, separated by commas',
    })
    .default([]),
  RETURN_URLS: z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((urls) => urls.every(isReturnUrl), {
      error: 'write where people may be sent back to, like https://app.example/chat/, separated by commas',
    })
    .default([]),
  BODY_LIMIT: positive.default(1_048_576),
  RATE_LIMIT_PER_MINUTE: positive.default(600),
  OPEN_REQUESTS_PER_USER: positive.default(100),
  OPEN_REQUESTS_PER_ADDRESS: positive.default(2_000),
  INTERLUDE_CONFIG: z.string().optional(),
  INTERLUDE_DATA: z.string().default('.interlude'),
  INTERLUDE_KEYS: z
    .string()
    .check(({ value, issues }) => {
      const message = faultOfKeys(value);
      if (message !== null) issues.push({ code: 'custom', input: undefined, message });
    })
    .optional(),
  DATABASE_URL: z
    .string()
    .regex(
      /^(sqlite:.+|postgres(ql)?:\/\/.+)$/,
      'write sqlite:<path> or postgres://<user>:<password>@<host>/<database>',
    )
    .optional(),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^:]+:\d+$/, 'write host:port, like temporal:7233')
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
  TEMPORAL_DEPLOYMENT_NAME: plainName.optional(),
  TEMPORAL_WORKER_BUILD_ID: plainName.optional(),
  AUTH_ISSUER: httpUrl.optional(),
  AUTH_AUDIENCE: z.string().default('interlude'),
  AUTH_TENANT_CLAIM: z.string().optional(),
  AUTH_OPERATOR_ROLE: z.string().optional(),
  AUTH_OPERATOR_CLAIM: z.string().default('roles'),
  AUTH_CLIENT_ID: z.string().optional(),
  AUTH_CLIENT_SECRET: z.string().optional(),
  NANGO_HOST: httpUrl.transform(withoutSlash).optional(),
  NANGO_PUBLIC_URL: httpUrl.transform(withoutSlash).optional(),
  NANGO_WEBSOCKETS_PATH: z.string().regex(/^\//, 'begin with /').default('/'),
  NANGO_API_KEY: z.string().optional(),
  NANGO_WEBHOOK_SIGNING_KEY: z.string().optional(),
  ELICITATION_TIMEOUT: duration.default(600_000),
  ELICITATION_MAX_OPEN: positive.default(20),
  SHUTDOWN_GRACE_PERIOD: duration.optional(),
  WORKER_CALLS: positive.default(100),
  WORKER_HELD_CALLS: positive.default(300),
  TURN_TIMEOUT: duration.optional(),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DEMO_IDENTITY_PORT: port.default(3001),
  DEMO_TRACKER_PORT: port.default(3002),
  DEMO_TRAVEL_PORT: port.default(3003),
});

export const environmentVariables = Object.keys(environmentSchema.shape);

export type Environment = z.infer<typeof environmentSchema>;

/** As browsers write it; anything else would never match. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** With a path, so that nobody takes https://app.example for a prefix of https://app.example.evil. */
function isReturnUrl(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash, href } = new URL(text);
  return username + password + search + hash === '' && (href === text || href === `${text}/`);
}

/** What is sent there is encrypted, or does not leave this machine. */
function isConfidential(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isLoopbackHost(hostname);
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

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Whether the service itself reads it, whatever the agents file names. */
export function isOurVariable(name: string): boolean {
  return name in environmentSchema.shape;
}

/** Null when something is wrong; what, is added to `problems`. */
export function readEnvironment(given: Record<string, string>, problems: string[]): Environment | null {
  const parsed = environmentSchema.safeParse(given, { error: whatToWrite });
  const wrong = new Map((parsed.error?.issues ?? []).map(({ path, message }) => [String(path[0]), message]));
  for (const [name, message] of wrong) problems.push(`${name}: ${message}`);
  // What is wrong with the others is told in the same go.
  const readable = Object.entries(given).filter(([name]) => !wrong.has(name));
  const values = environmentSchema.parse(Object.fromEntries(readable));
  for (const { names, isWrong, remedy } of combinations) {
    if (names.every((name) => !wrong.has(name)) && isWrong(values)) problems.push(`${names[0]}: ${remedy}`);
  }
  problems.push(...unreadableFiles(values));
  return parsed.success ? parsed.data : null;
}

interface Combination {
  /** The one to change, and those that it depends on. */
  names: [keyof Environment, ...(keyof Environment)[]];
  isWrong: (values: Environment) => boolean;
  remedy: string;
}

/** Anything that leaves the embedded defaults needs its own keys, and secrets come in pairs. */
const combinations: Combination[] = [
  {
    names: ['INTERLUDE_KEYS', 'DATABASE_URL', 'TEMPORAL_ADDRESS'],
    isWrong: ({ DATABASE_URL, TEMPORAL_ADDRESS, INTERLUDE_KEYS }) =>
      (DATABASE_URL?.startsWith('postgres') === true || TEMPORAL_ADDRESS !== undefined) &&
      INTERLUDE_KEYS === undefined,
    remedy:
      'needed as soon as a database or Temporal of your own is used; make one with: echo "k1:$(openssl rand -base64 32)"',
  },
  {
    names: ['AUTH_CLIENT_ID'],
    isWrong: ({ AUTH_ISSUER, AUTH_CLIENT_ID }) => AUTH_ISSUER !== undefined && AUTH_CLIENT_ID === undefined,
    remedy:
      'needed with AUTH_ISSUER, for the login of the connect page; register a client there with the redirect <PUBLIC_URL>/auth/login/callback',
  },
  {
    names: ['AUTH_ISSUER'],
    isWrong: ({ AUTH_ISSUER }) => AUTH_ISSUER !== undefined && !isConfidential(AUTH_ISSUER),
    remedy: 'begin with https://; plain http is for an issuer on this machine only',
  },
  {
    names: ['TURN_TIMEOUT', 'ELICITATION_TIMEOUT'],
    isWrong: ({ TURN_TIMEOUT, ELICITATION_TIMEOUT }) =>
      TURN_TIMEOUT !== undefined && TURN_TIMEOUT <= ELICITATION_TIMEOUT,
    remedy: 'a turn has to outlive its questions; write more than ELICITATION_TIMEOUT, many times as much',
  },
  {
    names: ['TEMPORAL_TLS_CLIENT_CERT_PATH', 'TEMPORAL_TLS_CLIENT_KEY_PATH'],
    isWrong: ({ TEMPORAL_TLS_CLIENT_CERT_PATH: cert, TEMPORAL_TLS_CLIENT_KEY_PATH: key }) =>
      (cert === undefined) !== (key === undefined),
    remedy: 'TEMPORAL_TLS_CLIENT_KEY_PATH belongs to it; give both or neither',
  },
  {
    names: ['NANGO_API_KEY', 'NANGO_HOST'],
    isWrong: ({ NANGO_HOST, NANGO_API_KEY }) => NANGO_HOST !== undefined && NANGO_API_KEY === undefined,
    remedy: 'needed with NANGO_HOST; it is the secret key in the environment settings of Nango',
  },
  {
    names: ['NANGO_HOST', 'NANGO_API_KEY'],
    isWrong: ({ NANGO_HOST, NANGO_API_KEY }) => NANGO_HOST === undefined && NANGO_API_KEY !== undefined,
    remedy: 'needed with NANGO_API_KEY; it is the address of Nango, like https://api.nango.dev',
  },
];

function unreadableFiles(values: Environment): string[] {
  const names = [
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
  ] as const;
  return names.flatMap((name) => {
    const file = values[name];
    if (file === undefined) return [];
    try {
      readFileSync(file);
      return [];
    } catch {
      return [`${name}: cannot read ${file}`];
    }
  });
}
