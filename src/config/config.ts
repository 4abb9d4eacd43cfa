/**
 * The environment and the agents file, read once at start by the processes and nobody else. Every problem is
 * reported, not just the first, each with the name and what to do about it.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { AgentConfig, ProvidersConfig } from './agents-file/agents-file.ts';
import { isOurVariable, readEnvironment } from './environment.ts';
import type { Environment } from './environment.ts';
import { issuerProblem } from '../network/openid-issuer.ts';
import { readAgentsFile } from './agents-file/read-agents-file.ts';
import { withSecretFiles } from './secret-files.ts';
import { toServerConfig } from './agents-file/server-config.ts';
import type { ServerConfig } from './agents-file/server-config.ts';

export type { AgentConfig, ProvidersConfig } from './agents-file/agents-file.ts';
export type { ServerConfig } from './agents-file/server-config.ts';

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
  /** Which versions of the code there are: without a build id, one for each state of the workflow code. */
  deployment: { name: string; buildId: string | undefined };
}

export interface AuthConfig {
  issuer: string;
  audience: string;
  /** The claim that every token must have; null: `tenant` where there is one, and the tenant `default` where not. */
  tenantClaim: string | null;
  /** Who looks after shared accounts: users whose token has this role in this claim. Absent: nobody by their token. */
  operator?: { claim: string; role: string } | undefined;
  client: { id: string; secret: string | undefined };
}

export interface NangoConfig {
  host: string;
  apiKey: string;
  /** How browsers reach it. */
  publicUrl: string;
  websocketsPath: string;
  /** Absent: webhooks are not accepted, and connecting is noticed by looking only. */
  webhookSigningKey: string | undefined;
}

export interface Config {
  http: {
    port: number;
    host: string;
    publicUrl: string;
    /** Proxies in front of us, by address or network: only their `x-forwarded-for` is believed. */
    trustProxy: string[];
    /** Whose pages may call the API from a browser. */
    corsOrigins: string[];
    /** Under which names we answer, besides that of `publicUrl`, this machine's own and addresses. */
    allowedHosts: string[];
    /** Where the connect page may send people back to: these addresses and what lies below them. */
    returnUrls: string[];
    bodyLimit: number;
    rateLimitPerMinute: number;
    /** At once, streams included. */
    openRequests: { perUser: number; perAddress: number };
  };
  dataDir: string;
  database: { kind: 'sqlite'; path: string } | { kind: 'postgres'; url: string };
  temporal: TemporalConfig;
  /** Absent: the demo identity provider is started. */
  auth: AuthConfig | undefined;
  /** `INTERLUDE_KEYS` as given; absent: keys are generated into `dataDir`, for the embedded default only. */
  keys: string | undefined;
  /** Present as soon as a server keeps its accounts there. */
  nango: NangoConfig | undefined;
  elicitation: { timeoutMs: number; maxOpen: number };
  /** What one worker does at once: calls at work, and calls whose servers hold the line while people think. */
  worker: { calls: number; heldCalls: number };
  /** How long a process that is told to stop waits for the calls of its worker. */
  shutdownGraceMs: number;
  /** When Temporal ends a turn that has not ended by itself. */
  turn: { timeoutMs: number };
  agents: Map<string, AgentConfig>;
  servers: Map<string, ServerConfig>;
  providers: ProvidersConfig;
  /** Folder of the agents file; paths in it are relative to this. */
  configDir: string;
  /** Reads a secret named in the agents file. */
  secret: (name: string) => string | undefined;
  /** Where the demo's own servers listen. The MCP servers among them are started only with the demo's agents file. */
  demo: { identityPort: number; servers: { trackerPort: number; travelPort: number } | undefined };
  logLevel: string;
}

const dayMs = 24 * 60 * 60 * 1000;
const minimalGraceMs = 10_000;

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

/** The configuration of this process; throws a `ConfigError` that lists every problem. */
export function readConfig(): Config {
  return loadConfig(process.env, process.cwd());
}

/** As `readConfig`, of a process that lets people in: whether its issuer answers belongs to what is checked. */
export async function readConfigAndIssuer(): Promise<Config> {
  const config = configOrError();
  const issuer = (config instanceof ConfigError ? process.env['AUTH_ISSUER'] : config.auth?.issuer) ?? '';
  const problems = config instanceof ConfigError ? config.problems : [];
  const isAsked = URL.canParse(issuer) && !problems.some((problem) => problem.startsWith('AUTH_ISSUER: '));
  const trouble = isAsked ? await issuerProblem(issuer) : null;
  if (trouble !== null) throw new ConfigError([...problems, `AUTH_ISSUER: ${trouble}`]);
  if (config instanceof ConfigError) throw config;
  return config;
}

function configOrError(): Config | ConfigError {
  try {
    return readConfig();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}

export function loadConfig(env: Record<string, string | undefined>, cwd: string): Config {
  const problems: string[] = [];
  const set = Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, value]],
    ),
  );
  const filled = withSecretFiles(set, isOurVariable, problems);
  const configPath = path.resolve(cwd, filled['INTERLUDE_CONFIG'] ?? 'demo/agents.yaml');
  const values = readEnvironment(filled, problems);
  const shown = path.relative(cwd, configPath);
  const names = { file: configPath, shown: shown.startsWith('..') ? configPath : shown };
  const file = readAgentsFile(names, filled, problems);
  if (!values || !file || problems.length > 0) throw new ConfigError(problems);

  const dataDir = path.resolve(cwd, values.INTERLUDE_DATA);
  const configDir = path.dirname(configPath);
  const surroundings = { variables: filled, folder: configDir };
  const servers = new Map(
    Object.entries(file.servers).map(([name, entry]) => [name, toServerConfig(name, entry, surroundings)]),
  );
  return {
    http: {
      port: values.PORT,
      host: values.HOST,
      publicUrl: values.PUBLIC_URL ?? `http://${reachableHost(values.HOST)}:${values.PORT}`,
      trustProxy: values.TRUST_PROXY,
      corsOrigins: values.CORS_ORIGINS,
      allowedHosts: values.ALLOWED_HOSTS,
      returnUrls: values.RETURN_URLS,
      bodyLimit: values.BODY_LIMIT,
      rateLimitPerMinute: values.RATE_LIMIT_PER_MINUTE,
      openRequests: {
        perUser: values.OPEN_REQUESTS_PER_USER,
        perAddress: values.OPEN_REQUESTS_PER_ADDRESS,
      },
    },
    dataDir,
    database: databaseFrom(values.DATABASE_URL, dataDir, cwd),
    temporal: temporalFrom(values),
    auth: values.AUTH_ISSUER
      ? {
          issuer: values.AUTH_ISSUER,
          audience: values.AUTH_AUDIENCE,
          tenantClaim: values.AUTH_TENANT_CLAIM ?? null,
          operator:
            values.AUTH_OPERATOR_ROLE === undefined
              ? undefined
              : { claim: values.AUTH_OPERATOR_CLAIM, role: values.AUTH_OPERATOR_ROLE },
          client: { id: values.AUTH_CLIENT_ID ?? '', secret: values.AUTH_CLIENT_SECRET },
        }
      : undefined,
    keys: values.INTERLUDE_KEYS,
    nango: nangoFrom(values),
    elicitation: { timeoutMs: values.ELICITATION_TIMEOUT, maxOpen: values.ELICITATION_MAX_OPEN },
    shutdownGraceMs:
      values.SHUTDOWN_GRACE_PERIOD ??
      Math.max(...[...servers.values()].map(({ timeout }) => timeout), minimalGraceMs),
    worker: { calls: values.WORKER_CALLS, heldCalls: values.WORKER_HELD_CALLS },
    turn: { timeoutMs: values.TURN_TIMEOUT ?? Math.max(dayMs, 10 * values.ELICITATION_TIMEOUT) },
    agents: named(file.agents),
    servers,
    providers: file.providers,
    configDir,
    secret: (name) => filled[name],
    demo: {
      identityPort: values.DEMO_IDENTITY_PORT,
      servers:
        filled['INTERLUDE_CONFIG'] === undefined
          ? { trackerPort: values.DEMO_TRACKER_PORT, travelPort: values.DEMO_TRAVEL_PORT }
          : undefined,
    },
    logLevel: values.LOG_LEVEL,
  };
}

/** Where a browser on this machine finds a server that listens on this address. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

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

function nangoFrom(values: Environment): NangoConfig | undefined {
  const { NANGO_HOST: host, NANGO_API_KEY: apiKey } = values;
  if (host === undefined || apiKey === undefined) return undefined;
  return {
    host,
    apiKey,
    publicUrl: values.NANGO_PUBLIC_URL ?? host,
    websocketsPath: values.NANGO_WEBSOCKETS_PATH,
    webhookSigningKey: values.NANGO_WEBHOOK_SIGNING_KEY,
  };
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
    deployment: {
      name: values.TEMPORAL_DEPLOYMENT_NAME ?? values.TEMPORAL_TASK_QUEUE,
      buildId: values.TEMPORAL_WORKER_BUILD_ID,
    },
  };
}
