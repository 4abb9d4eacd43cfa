/** Makes the typed settings from the environment and the agents file. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { usualEffectMs } from '../../turn/step.ts';
import type { AgentsFile } from './agents-file/agents-file.ts';
import { readAgentsFile } from './agents-file/read-agents-file.ts';
import { toRemoteAgent, toServerConfig } from './agents-file/server-config.ts';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { Environment } from './environment-schema.ts';
import { environmentVariables, isOurVariable, readEnvironment, unreadVariables } from './environment.ts';
import type { Combination } from './environment.ts';
import { limitsFrom } from './limits.ts';
import { currentSecrets, readSecretFiles, watchedFile } from './secret-files.ts';

/** The default agents file. */
const demoFile = path.resolve(import.meta.dirname, '../../../demo/agents.yaml');
const dayMs = 24 * 60 * 60 * 1000;
const minimalGraceMs = 10_000;

export interface TemporalTls {
  serverName?: string;
  ca?: string;
  cert?: string;
  key?: string;
}

export type TemporalLogin = Pick<TemporalConfig, 'apiKey' | 'tls'>;

export interface TemporalConfig {
  /** Absent: the embedded development server is started. */
  address: string | undefined;
  namespace: string;
  apiKey: string | undefined;
  tls: boolean | TemporalTls;
  /** The current content of the files of both. */
  currentLogin?: (() => TemporalLogin) | undefined;
  taskQueue: string;
  /** The ports of the embedded server and of its UI. */
  port: number;
  uiPort: number;
  /** Temporal's UI for browsers. Absent if unknown. */
  uiUrl?: string | undefined;
  /** Without a build id, every state of the workflow code is a version. */
  deployment: { name: string; buildId: string | undefined };
}

/**
 * Urls are read from files of secrets again for each new connection. `directUrl` bypasses a connection pooler at `url`.
 */
type DatabaseConfig =
  | { kind: 'sqlite'; path: string }
  | {
      kind: 'postgres';
      url: string;
      currentUrl?: (() => string) | undefined;
      directUrl?: string | (() => string) | undefined;
    };

/**
 * Throws a `ConfigError` with every problem. `cwd`: the base of relative paths. `needs`: additional checks of this
 * process.
 */
export function loadConfig(
  env: Record<string, string | undefined>,
  cwd: string,
  needs: readonly Combination[] = [],
) {
  const problems: string[] = [];
  const set = withoutEmpty(env);
  const filled = readSecretFiles(set, isOurVariable, problems);
  const usual = existsSync(path.resolve(cwd, 'demo/agents.yaml')) ? 'demo/agents.yaml' : 'agents.yaml';
  const configPath = path.resolve(cwd, filled['INTERLUDE_CONFIG'] ?? usual);
  // Only the demo's agents file uses it.
  if (configPath === demoFile) filled['DEMO_DESK_SECRET'] ??= randomBytes(24).toString('base64url');
  const values = readEnvironment(filled, problems, needs);
  const shown = path.relative(cwd, configPath);
  const names = { file: configPath, shown: shown.startsWith('..') ? configPath : shown };
  const file = readAgentsFile(names, filled, problems);
  const warnings = unreadVariables(set, environmentVariables, (name) => isNamedIn(configPath, name));
  if (!values || !file || problems.length > 0) throw new ConfigError(problems, warnings);

  const secret = currentSecrets(set, filled);
  const dataDir = path.resolve(cwd, values.INTERLUDE_DATA);
  const configDir = path.dirname(configPath);
  const resolveWith = { variables: filled, secret, folder: configDir };
  const servers = new Map(
    Object.entries(file.servers)
      .map(([name, entry]) => toServerConfig(name, entry, resolveWith))
      .concat(
        Object.entries(file.$remoteAgents).map(([name, entry]) => toRemoteAgent(name, entry, resolveWith)),
      )
      .map((server) => [server.name, server]),
  );
  // A remote agent continues a task even when our process stops.
  const callTimeouts = [...servers.values()].flatMap(({ agent, timeout }) => (agent ? [] : [timeout]));
  // Time limits in the code of tools are not known here.
  if (Object.values(file.agents).some(({ tools }) => tools)) callTimeouts.push(usualEffectMs);
  return {
    /** Probable mistakes in valid settings. */
    warnings,
    http: {
      port: values.PORT,
      host: values.HOST,
      publicUrl: values.PUBLIC_URL ?? `http://${reachableHost(values.HOST)}:${values.PORT}`,
      /** Proxies whose `x-forwarded-for` is trusted, by address or network; true: all, false: none. */
      trustProxy: values.TRUST_PROXY,
      /** Origins of pages that may call the API from a browser. */
      corsOrigins: values.CORS_ORIGINS,
      /** Host names of the service, besides that of `publicUrl`, this machine's names and addresses. */
      allowedHosts: values.ALLOWED_HOSTS,
      /** The connect page may send people back to these addresses and those below them. */
      returnUrls: values.RETURN_URLS,
      bodyLimit: values.BODY_LIMIT,
    },
    limits: limitsFrom(values),
    dataDir,
    /** Where operators' probes ask this process, on a port that is not public. Absent: nowhere. */
    internal:
      values.INTERNAL_PORT === undefined
        ? undefined
        : { host: values.INTERNAL_HOST, port: values.INTERNAL_PORT },
    database: databaseFrom(secret, dataDir, cwd),
    temporal: temporalFrom(values, secret),
    /** Absent: the demo identity provider is started. */
    auth: authFrom(values),
    /** Absent: keys are generated into `dataDir`, for the embedded default only. */
    keys: values.INTERLUDE_KEYS,
    nango: nangoFrom(values),
    slack: slackFrom(values),
    /**
     * Images in users' messages. `maxBytes` is for one image. `maxBytesPerConversation` is for the newest ones that a
     * model or a reader gets together.
     */
    images: {
      perMessage: values.IMAGES_PER_MESSAGE,
      maxBytes: values.IMAGE_MAX_BYTES,
      maxBytesPerMessage: values.IMAGES_MAX_BYTES_PER_MESSAGE,
      maxBytesPerConversation: values.IMAGES_MAX_BYTES_PER_CONVERSATION,
    },
    /** `maxOpen…`: open questions at once, of one user, turn and tenant. */
    elicitation: {
      timeoutMs: values.ELICITATION_TIMEOUT,
      maxOpen: values.ELICITATION_MAX_OPEN,
      maxOpenPerTurn: values.ELICITATION_MAX_OPEN_PER_TURN ?? values.ELICITATION_MAX_OPEN,
      maxOpenPerTenant: values.ELICITATION_MAX_OPEN_PER_TENANT,
    },
    /** How long data is kept; absent: for ever. */
    retention: {
      answersMs: values.ELICITATION_RETENTION,
      stateMs: values.SEALED_STATE_RETENTION,
      imagesMs: values.IMAGE_RETENTION,
      logMs: values.TURN_LOG_RETENTION,
      messagesMs: values.MESSAGE_RETENTION,
      connectionsMs: values.CONNECTION_RETENTION,
      auditMs: values.AUDIT_RETENTION,
    },
    /** `signingKeys`: newest first; without one nothing is signed. `targets`: allowed targets of notifications. */
    a2a: {
      signingKeys: values.A2A_SIGNING_KEY,
      targets: values.A2A_PUSH_TARGETS,
      pushDeadlineMs: values.A2A_PUSH_DEADLINE,
    },
    /** `maxDepth`: delegations below the turn's own agent. `maxPerStep`: tasks delegated in one step. */
    delegation: { maxDepth: values.DELEGATION_MAX_DEPTH, maxPerStep: values.DELEGATION_MAX_PER_STEP },
    /** How long a stopping process waits for the calls of its worker. */
    shutdownGraceMs: values.SHUTDOWN_GRACE_PERIOD ?? Math.max(...callTimeouts, minimalGraceMs),
    /** What one worker does at once: active calls, and calls whose servers keep the connection open while people think. */
    worker: { calls: values.WORKER_CALLS, heldCalls: values.WORKER_HELD_CALLS },
    /** A turn that takes longer is ended. */
    turn: { timeoutMs: values.TURN_TIMEOUT ?? Math.max(dayMs, 10 * values.ELICITATION_TIMEOUT) },
    agents: named(withFolders(file.agents, configDir)),
    /** What turns call, by name: MCP servers and remote agents. */
    servers,
    providers: file.providers,
    /** The agents file. Paths in it are relative to its folder, `configDir`. */
    configFile: configPath,
    configDir,
    /** Reads a secret that the agents file names, from its file if it has one. */
    secret,
    demo: {
      identityPort: values.DEMO_IDENTITY_PORT,
      /** Only started with the demo's agents file. */
      servers:
        filled['INTERLUDE_CONFIG'] === undefined
          ? {
              trackerPort: values.DEMO_TRACKER_PORT,
              travelPort: values.DEMO_TRAVEL_PORT,
              deskPort: values.DEMO_DESK_PORT,
              flightsPort: values.DEMO_FLIGHTS_PORT,
              /** The secret with which the Desk's payment page signs that it is done. */
              deskSecret: filled['DEMO_DESK_SECRET'] ?? '',
            }
          : undefined,
    },
    /** Where traces are shown, with `{traceId}` for the id. Absent: nowhere. */
    traceUrl: values.TRACE_URL,
    logLevel: values.LOG_LEVEL,
    telemetry: telemetryFrom(values),
  };
}

/** The database alone, without an agents file. Throws a `ConfigError` with every problem. */
export function loadDatabase(env: Record<string, string | undefined>, cwd: string): DatabaseConfig {
  const problems: string[] = [];
  const set = withoutEmpty(env);
  const filled = readSecretFiles(set, isOurVariable, problems);
  const values = readEnvironment(filled, problems);
  if (!values || problems.length > 0) throw new ConfigError(problems, []);
  return databaseFrom(currentSecrets(set, filled), path.resolve(cwd, values.INTERLUDE_DATA), cwd);
}

function withoutEmpty(env: Record<string, string | undefined>): Record<string, string> {
  const given = Object.entries(env).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given) as Record<string, string>;
}

function isNamedIn(file: string, name: string): boolean {
  try {
    return readFileSync(file, 'utf8').includes(name);
  } catch {
    return false;
  }
}

function authFrom(values: Environment) {
  if (values.AUTH_ISSUER === undefined) return undefined;
  return {
    issuer: values.AUTH_ISSUER,
    audience: values.AUTH_AUDIENCE,
    /** The claim that every token must have. Null: `tenant` if present, otherwise the tenant is `default`. */
    tenantClaim: values.AUTH_TENANT_CLAIM ?? null,
    /**
     * Operators are users whose token has this role in this claim. With `contentsRole` they may also read what users and
     * agents say. Absent: there are no operators.
     */
    operator:
      values.AUTH_OPERATOR_ROLE === undefined
        ? undefined
        : {
            claim: values.AUTH_OPERATOR_CLAIM,
            role: values.AUTH_OPERATOR_ROLE,
            contentsRole: values.AUTH_CONTENTS_ROLE,
          },
    client: { id: values.AUTH_CLIENT_ID ?? '', secret: values.AUTH_CLIENT_SECRET },
    /** The client of `interlude login` at the issuer. Absent: it registers itself. */
    program:
      values.AUTH_PROGRAM_CLIENT_ID === undefined
        ? undefined
        : { clientId: values.AUTH_PROGRAM_CLIENT_ID, scope: values.AUTH_PROGRAM_SCOPE },
  };
}

/** The host by which a browser on this machine reaches a server that listens on `host`. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Makes the folders of tools absolute. */
function withFolders(agents: AgentsFile['agents'], configDir: string): AgentsFile['agents'] {
  return Object.fromEntries(
    Object.entries(agents).map(([name, { tools, ...agent }]) => [
      name,
      tools ? { ...agent, tools: { ...tools, folder: path.resolve(configDir, tools.folder) } } : agent,
    ]),
  );
}

/** Adds each entry's key as `name`, and a default title. */
function named<T extends { title?: string | undefined }>(
  entries: Record<string, T>,
): Map<string, T & { name: string; title: string }> {
  return new Map(
    Object.entries(entries).map(([name, entry]) => [name, { ...entry, name, title: entry.title ?? name }]),
  );
}

function databaseFrom(
  secret: (name: string) => string | undefined,
  dataDir: string,
  cwd: string,
): DatabaseConfig {
  const urlOf = (name: string) => withPassword(secret(name) ?? '', secret('DATABASE_PASSWORD'));
  const currentUrl = () => urlOf('DATABASE_URL');
  const url = currentUrl();
  if (url === '') return { kind: 'sqlite', path: path.join(dataDir, 'interlude.db') };
  if (url.startsWith('sqlite:'))
    return { kind: 'sqlite', path: path.resolve(cwd, url.slice('sqlite:'.length)) };
  const hasDirectUrl = secret('DATABASE_DIRECT_URL') !== undefined;
  return {
    kind: 'postgres',
    url,
    currentUrl,
    ...(hasDirectUrl && { directUrl: () => urlOf('DATABASE_DIRECT_URL') }),
  };
}

function withPassword(given: string, password: string | undefined): string {
  if (password === undefined || !given.startsWith('postgres') || !URL.canParse(given)) return given;
  const url = new URL(given);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** Off unless an exporter or an endpoint is configured; the standard's default would export to this machine. */
function telemetryFrom(values: Environment) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, TRUST_TRACEPARENT: trustsCallers } = values;
  if (values.OTEL_SDK_DISABLED) return { traces: false, metrics: undefined, trustsCallers };
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint = endpoint } = values;
  const { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: metricsEndpoint = endpoint } = values;
  const { OTEL_TRACES_EXPORTER: tracesExporter = tracesEndpoint === undefined ? 'none' : 'otlp' } = values;
  const { OTEL_METRICS_EXPORTER: exporters = metricsEndpoint === undefined ? [] : ['otlp'] } = values;
  const [prometheus, otlp] = [exporters.includes('prometheus'), exporters.includes('otlp')];
  const exportIntervalMs = values.OTEL_METRIC_EXPORT_INTERVAL;
  return {
    traces: tracesExporter === 'otlp',
    metrics: prometheus || otlp ? { prometheus, otlp, exportIntervalMs } : undefined,
    /** Traces of callers continue in ours. Otherwise ours only link to them. */
    trustsCallers,
  };
}

function nangoFrom(values: Environment) {
  const { NANGO_HOST: host, NANGO_API_KEY: apiKey } = values;
  if (host === undefined || apiKey === undefined) return undefined;
  return {
    host,
    apiKey,
    /** Its address for browsers. */
    publicUrl: values.NANGO_PUBLIC_URL ?? host,
    websocketsPath: values.NANGO_WEBSOCKETS_PATH,
    /** Absent: webhooks are not accepted, and new connections are found by polling. */
    webhookSigningKey: values.NANGO_WEBHOOK_SIGNING_KEY,
  };
}

function slackFrom(values: Environment) {
  const {
    SLACK_SIGNING_SECRET: signingSecret,
    SLACK_CLIENT_ID: id,
    SLACK_CLIENT_SECRET: secret,
    SLACK_BOT_TOKEN: token,
  } = values;
  if (signingSecret === undefined) return undefined;
  return {
    signingSecret,
    /** The Slack app's client: people prove their Slack identity with it, and workspaces install the app. */
    client: id === undefined || secret === undefined ? undefined : { id, secret },
    /** The workspace that the environment installs, and the tenant of its people. */
    bot: token === undefined ? undefined : { token, tenant: values.SLACK_TENANT },
    /** For development: events come over a connection that the service opens. */
    appToken: values.SLACK_APP_TOKEN,
    apiUrl: `${values.SLACK_API_URL}/`,
  };
}

/** `secret`: the current value of a variable. */
function temporalFrom(values: Environment, secret: (name: string) => string | undefined): TemporalConfig {
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
