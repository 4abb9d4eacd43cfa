/**
 * The environment and the agents file, read once at start by the processes and nobody else. Every problem is
 * reported, not just the first, each with the name and what to do about it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { agentsFileSchema, parseDuration } from './agents-file.ts';
import type { AgentConfig, AgentsFile, ProvidersConfig, ServerConfig } from './agents-file.ts';

export type { AgentConfig, ProvidersConfig, ServerConfig } from './agents-file.ts';

export interface TemporalConfig {
  /** Absent: the embedded development server is started. */
  address: string | undefined;
  namespace: string;
  apiKey: string | undefined;
  tls: boolean | { serverName?: string; ca?: string; cert?: string; key?: string };
  taskQueue: string;
  /** Where the embedded server listens, and its UI. */
  port: number;
  uiPort: number;
  /** Worker deployment version in production; absent turns worker versioning off. */
  deployment: { name: string; buildId: string } | undefined;
}

export interface AuthConfig {
  issuer: string;
  audience: string;
  tenantClaim: string;
  client: { id: string; secret: string | undefined };
}

export interface Config {
  http: { port: number; host: string; publicUrl: string; bodyLimit: number; rateLimitPerMinute: number };
  dataDir: string;
  database: { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string };
  temporal: TemporalConfig;
  /** Absent: the demo identity provider is started. */
  auth: AuthConfig | undefined;
  /** `INTERLUDE_KEYS` as given; absent: keys are generated into `dataDir`, for the embedded default only. */
  keys: string | undefined;
  elicitation: { timeoutMs: number; maxOpen: number };
  agents: Map<string, AgentConfig>;
  servers: Map<string, ServerConfig>;
  providers: ProvidersConfig;
  /** Folder of the agents file; paths in it are relative to this. */
  configDir: string;
  /** Reads a secret named in the agents file. */
  secret: (name: string) => string | undefined;
  /** Where the demo's own servers listen; `tracker` is started only with the demo's agents file. */
  demo: { identityPort: number; trackerPort: number | undefined };
  logLevel: string;
}

export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly problems: string[];
  constructor(problems: string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((line) => `  • ${line}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

const port = z.coerce.number().int().min(0).max(65_535);
const positive = z.coerce.number().int().positive();
const durationText = z
  .string()
  .regex(/^\d+(ms|s|m|h)$/, 'write a duration such as 90s, 10m or 1h')
  .transform(parseDuration);
const databaseUrl = z
  .string()
  .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)$/, 'write sqlite:<path> or postgres://…');

const environmentSchema = z.object({
  PORT: port.default(3000),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ''))
    .optional(),
  BODY_LIMIT: positive.default(1_048_576),
  RATE_LIMIT_PER_MINUTE: positive.default(600),
  INTERLUDE_CONFIG: z.string().optional(),
  INTERLUDE_DATA: z.string().default('.interlude'),
  INTERLUDE_KEYS: z.string().optional(),
  DATABASE_URL: databaseUrl.optional(),
  TEMPORAL_ADDRESS: z
    .string()
    .regex(/^[^:]+:\d+$/, 'write host:port')
    .optional(),
  TEMPORAL_NAMESPACE: z.string().default('default'),
  TEMPORAL_API_KEY: z.string().optional(),
  TEMPORAL_TLS: z.stringbool().optional(),
  TEMPORAL_TLS_SERVER_NAME: z.string().optional(),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: z.string().optional(),
  TEMPORAL_TLS_CLIENT_KEY_PATH: z.string().optional(),
  TEMPORAL_TASK_QUEUE: z.string().default('interlude'),
  TEMPORAL_PORT: port.default(7233),
  TEMPORAL_UI_PORT: port.default(8233),
  TEMPORAL_DEPLOYMENT_NAME: z.string().optional(),
  TEMPORAL_WORKER_BUILD_ID: z.string().optional(),
  AUTH_ISSUER: z.url({ protocol: /^https?$/ }).optional(),
  AUTH_AUDIENCE: z.string().default('interlude'),
  AUTH_TENANT_CLAIM: z.string().default('tenant'),
  AUTH_CLIENT_ID: z.string().optional(),
  AUTH_CLIENT_SECRET: z.string().optional(),
  ELICITATION_TIMEOUT: durationText.default(600_000),
  ELICITATION_MAX_OPEN: positive.default(20),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DEMO_IDENTITY_PORT: port.default(3001),
  DEMO_TRACKER_PORT: port.default(3002),
});

/** The configuration of this process; throws a `ConfigError` that lists every problem. */
export function readConfig(): Config {
  return loadConfig(process.env, process.cwd());
}

export function loadConfig(env: Record<string, string | undefined>, cwd: string): Config {
  const problems: string[] = [];
  const filled = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = environmentSchema.safeParse(filled);
  for (const issue of parsed.error?.issues ?? []) problems.push(`${issue.path.join('.')}: ${issue.message}`);

  const configPath = path.resolve(cwd, filled['INTERLUDE_CONFIG'] ?? 'demo/agents.yaml');
  const file = readAgentsFile(configPath, filled, problems);
  if (parsed.success) {
    crossCheck(parsed.data, problems);
    problems.push(...missingFiles(parsed.data));
  }
  if (file) problems.push(...crossCheckAgents(file, filled));
  if (!parsed.success || !file || problems.length > 0) throw new ConfigError(problems);

  const values = parsed.data;
  const dataDir = path.resolve(cwd, values.INTERLUDE_DATA);
  return {
    http: {
      port: values.PORT,
      host: values.HOST,
      publicUrl:
        values.PUBLIC_URL ?? `http://${values.HOST === '0.0.0.0' ? 'localhost' : values.HOST}:${values.PORT}`,
      bodyLimit: values.BODY_LIMIT,
      rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE,
    },
    dataDir,
    database: databaseFrom(values.DATABASE_URL, dataDir, cwd),
    temporal: temporalFrom(values),
    auth: values.AUTH_ISSUER
      ? {
          issuer: values.AUTH_ISSUER,
          audience: values.AUTH_AUDIENCE,
          tenantClaim: values.AUTH_TENANT_CLAIM,
          client: { id: values.AUTH_CLIENT_ID ?? '', secret: values.AUTH_CLIENT_SECRET },
        }
      : undefined,
    keys: values.INTERLUDE_KEYS,
    elicitation: { timeoutMs: values.ELICITATION_TIMEOUT, maxOpen: values.ELICITATION_MAX_OPEN },
    agents: named(file.agents),
    servers: named(file.servers),
    providers: file.providers,
    configDir: path.dirname(configPath),
    secret: (name) => filled[name],
    demo: {
      identityPort: values.DEMO_IDENTITY_PORT,
      trackerPort: filled['INTERLUDE_CONFIG'] === undefined ? values.DEMO_TRACKER_PORT : undefined,
    },
    logLevel: values.LOG_LEVEL,
  };
}

type Environment = z.infer<typeof environmentSchema>;

/** Gives every entry its key as `name`, and a title to show people where none is written. */
function named<T extends { title?: string | undefined }>(
  entries: Record<string, T>,
): Map<string, T & { name: string; title: string }> {
  return new Map(
    Object.entries(entries).map(([name, entry]) => [name, { ...entry, name, title: entry.title ?? name }]),
  );
}

function databaseFrom(url: string | undefined, dataDir: string, cwd: string): Config['database'] {
  if (url === undefined) return { kind: 'sqlite', path: path.join(dataDir, 'interlude.db') };
  return url.startsWith('sqlite:')
    ? { kind: 'sqlite', path: path.resolve(cwd, url.slice('sqlite:'.length)) }
    : { kind: 'postgres', url };
}

function temporalFrom(values: Environment): TemporalConfig {
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
    deployment:
      values.TEMPORAL_DEPLOYMENT_NAME && values.TEMPORAL_WORKER_BUILD_ID
        ? { name: values.TEMPORAL_DEPLOYMENT_NAME, buildId: values.TEMPORAL_WORKER_BUILD_ID }
        : undefined,
  };
}

/** What is only wrong in combination. Anything that leaves the embedded defaults needs its own keys. */
function crossCheck(values: Environment, problems: string[]): void {
  const production =
    values.DATABASE_URL?.startsWith('postgres') === true || values.TEMPORAL_ADDRESS !== undefined;
  if (production && values.INTERLUDE_KEYS === undefined) {
    problems.push(
      'INTERLUDE_KEYS: needed as soon as a database or Temporal of your own is used; make one with: echo "k1:$(openssl rand -base64 32)"',
    );
  }
  if (values.AUTH_ISSUER && !values.AUTH_CLIENT_ID) {
    problems.push(
      'AUTH_CLIENT_ID: needed with AUTH_ISSUER, for the login of the connect page; register a client there with the redirect <PUBLIC_URL>/auth/login/callback',
    );
  }
  if (
    (values.TEMPORAL_TLS_CLIENT_CERT_PATH === undefined) !==
    (values.TEMPORAL_TLS_CLIENT_KEY_PATH === undefined)
  ) {
    problems.push('TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH: give both or neither');
  }
  if ((values.TEMPORAL_DEPLOYMENT_NAME === undefined) !== (values.TEMPORAL_WORKER_BUILD_ID === undefined)) {
    problems.push('TEMPORAL_DEPLOYMENT_NAME, TEMPORAL_WORKER_BUILD_ID: give both or neither');
  }
}

function missingFiles(values: Environment): string[] {
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

function readAgentsFile(
  file: string,
  env: Record<string, string | undefined>,
  problems: string[],
): AgentsFile | undefined {
  let document: unknown;
  try {
    document = parseYaml(readFileSync(file, 'utf8'));
  } catch (error) {
    const why =
      error instanceof YAMLParseError
        ? error.message
        : 'cannot be read; set INTERLUDE_CONFIG to your agents file';
    problems.push(`${file}: ${why}`);
    return undefined;
  }
  const parsed = agentsFileSchema.safeParse(
    interpolate(document, env, (name) => problems.push(`${name}: not set, but ${file} uses \${${name}}`)),
  );
  for (const issue of parsed.error?.issues ?? [])
    problems.push(`${file}, ${issue.path.join('.') || 'top level'}: ${issue.message}`);
  return parsed.data;
}

/** `${NAME}` and `${NAME:-default}` in any text of the file, as in a compose file. */
function interpolate(
  value: unknown,
  env: Record<string, string | undefined>,
  missing: (name: string) => void,
): unknown {
  if (typeof value === 'string') {
    return value.replace(
      /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g,
      (_, name: string, fallback: string | undefined) => {
        const found = env[name] ?? fallback;
        if (found === undefined) missing(name);
        return found ?? '';
      },
    );
  }
  if (Array.isArray(value)) return value.map((item) => interpolate(item, env, missing));
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, interpolate(item, env, missing)]),
    );
  }
  return value;
}

function crossCheckAgents(file: AgentsFile, env: Record<string, string | undefined>): string[] {
  const problems: string[] = [];
  const needsVariable = (name: string | undefined, where: string) => {
    if (name !== undefined && env[name] === undefined)
      problems.push(`${name}: not set, but ${where} reads it`);
  };
  for (const [name, agent] of Object.entries(file.agents)) {
    for (const server of agent.servers) {
      if (!(server in file.servers))
        problems.push(
          `agents.${name}.servers: there is no server "${server}"; describe it under servers or remove it`,
        );
    }
    const provider = agent.model.split(':', 1)[0] ?? '';
    const { providers } = file;
    if (provider === 'openai-compatible') {
      if (!providers[provider])
        problems.push(`agents.${name}.model: needs providers.openai-compatible.baseURL`);
      else needsVariable(providers[provider].apiKeyEnv, 'providers.openai-compatible.apiKeyEnv');
    } else if (provider === 'openai')
      needsVariable(providers.openai?.apiKeyEnv ?? 'OPENAI_API_KEY', `agents.${name}.model`);
    else if (provider === 'anthropic')
      needsVariable(providers.anthropic?.apiKeyEnv ?? 'ANTHROPIC_API_KEY', `agents.${name}.model`);
    else if (provider === 'scripted' && !providers.scripted)
      problems.push(`agents.${name}.model: needs providers.scripted.script`);
  }
  for (const [name, server] of Object.entries(file.servers)) {
    for (const variable of Object.values(server.headersEnv))
      needsVariable(variable, `servers.${name}.headersEnv`);
    needsVariable(server.oauth?.clientSecretEnv, `servers.${name}.oauth.clientSecretEnv`);
  }
  return problems;
}
