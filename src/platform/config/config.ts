/**
 * The typed settings of a process, made by `load-config.ts` from the environment and the agents file. Types only: code
 * gets its settings passed in.
 */
import type { AgentConfig, ProvidersConfig } from './agents-file/agents-file.ts';
import type { ServerConfig } from './agents-file/server-config.ts';
import type { SigningKey } from './signing-keys.ts';

export type { AgentConfig, AskUser, ProvidersConfig } from './agents-file/agents-file.ts';
export type { RemoteAgent, ServerConfig } from './agents-file/server-config.ts';

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

export interface AuthConfig {
  issuer: string;
  audience: string;
  /** The claim that every token must have. Null: `tenant` if present, otherwise the tenant is `default`. */
  tenantClaim: string | null;
  /**
   * Operators are users whose token has this role in this claim. With `contentsRole` they may also read what users and
   * agents say. Absent: there are no operators.
   */
  operator?: { claim: string; role: string; contentsRole?: string | undefined } | undefined;
  client: { id: string; secret: string | undefined };
  /** The client of `interlude login` at the issuer. Absent: it registers itself. */
  program?: { clientId: string; scope: string | undefined } | undefined;
}

export interface NangoConfig {
  host: string;
  apiKey: string;
  /** Its address for browsers. */
  publicUrl: string;
  websocketsPath: string;
  /** Absent: webhooks are not accepted, and new connections are found by polling. */
  webhookSigningKey: string | undefined;
}

export interface SlackConfig {
  signingSecret: string;
  /** The Slack app's client: people prove their Slack identity with it, and workspaces install the app. */
  client: { id: string; secret: string } | undefined;
  /** The workspace that the environment installs, and the tenant of its people. */
  bot: { token: string; tenant: string } | undefined;
  /** For development: events come over a connection that the service opens. */
  appToken: string | undefined;
  /** Ends in `/api/`. */
  apiUrl: string;
}

export interface DemoServers {
  trackerPort: number;
  travelPort: number;
  deskPort: number;
  flightsPort: number;
  /** The secret with which the Desk's payment page signs that it is done. */
  deskSecret: string;
}

export interface MetricsConfig {
  /** At `/metrics` of the internal server. */
  prometheus: boolean;
  /** To a collector. */
  otlp: boolean;
  exportIntervalMs: number;
}

/** Other telemetry settings are OTEL_ variables, which OpenTelemetry's SDK reads itself. */
export interface TelemetryConfig {
  /** Traces are exported. */
  traces: boolean;
  /** Absent: metrics are off. */
  metrics: MetricsConfig | undefined;
  /** Traces of callers continue in ours. Otherwise ours only link to them. */
  trustsCallers: boolean;
}

export interface Config {
  /** Probable mistakes in valid settings. */
  warnings: string[];
  http: {
    port: number;
    host: string;
    publicUrl: string;
    /** Proxies whose `x-forwarded-for` is trusted, by address or network; true: all, false: none. */
    trustProxy: string[] | boolean;
    /** Origins of pages that may call the API from a browser. */
    corsOrigins: string[];
    /** Host names of the service, besides that of `publicUrl`, this machine's names and addresses. */
    allowedHosts: string[];
    /** The connect page may send people back to these addresses and those below them. */
    returnUrls: string[];
    bodyLimit: number;
    rateLimitPerMinute: number;
    /** Concurrent requests, including streams. */
    openRequests: { perUser: number; perAddress: number };
  };
  dataDir: string;
  /** Where operators' probes ask this process, on a port that is not public. Absent: nowhere. */
  internal: { host: string; port: number } | undefined;
  /**
   * Urls are read from files of secrets again for each new connection. `directUrl` bypasses a connection pooler at
   * `url`.
   */
  database:
    | { kind: 'sqlite'; path: string }
    | {
        kind: 'postgres';
        url: string;
        currentUrl?: (() => string) | undefined;
        directUrl?: string | (() => string) | undefined;
      };
  temporal: TemporalConfig;
  /** Absent: the demo identity provider is started. */
  auth: AuthConfig | undefined;
  /** `INTERLUDE_KEYS`. Absent: keys are generated into `dataDir`, for the embedded default only. */
  keys: string | undefined;
  /** Present if it is configured. */
  nango: NangoConfig | undefined;
  /** Absent: there is no Slack app. */
  slack: SlackConfig | undefined;
  /**
   * Images in users' messages. `maxBytes` is for one image. `maxBytesPerConversation` is for the newest ones that a
   * model or a reader gets together.
   */
  images: {
    perMessage: number;
    maxBytes: number;
    maxBytesPerMessage: number;
    maxBytesPerConversation: number;
  };
  /** `maxOpen`, `maxOpenPerTurn`: open questions at once, of one user and of one turn. */
  elicitation: { timeoutMs: number; retentionMs: number; maxOpen: number; maxOpenPerTurn: number };
  /** `signingKeys`: newest first; without one nothing is signed. `targets`: allowed targets of notifications. */
  a2a: { signingKeys: SigningKey[]; targets: 'public' | 'local'; pushDeadlineMs: number };
  /** `maxDepth`: delegations below the turn's own agent. `maxPerStep`: tasks delegated in one step. */
  delegation: { maxDepth: number; maxPerStep: number };
  /**
   * What one worker does at once: active calls, and calls whose servers keep the connection open while people think.
   */
  worker: { calls: number; heldCalls: number };
  /** How long a stopping process waits for the calls of its worker. */
  shutdownGraceMs: number;
  /** A turn that takes longer is ended. */
  turn: { timeoutMs: number };
  agents: Map<string, AgentConfig>;
  /** What turns call, by name: MCP servers and remote agents. */
  servers: Map<string, ServerConfig>;
  providers: ProvidersConfig;
  /** The agents file. Paths in it are relative to its folder, `configDir`. */
  configFile: string;
  configDir: string;
  /** Reads a secret that the agents file names, from its file if it has one. */
  secret: (name: string) => string | undefined;
  /** Where the demo's servers listen. Its MCP servers are only started with the demo's agents file. */
  demo: { identityPort: number; servers: DemoServers | undefined };
  /** Where traces are shown, with `{traceId}` for the id. Absent: nowhere. */
  traceUrl?: string | undefined;
  logLevel: string;
  telemetry: TelemetryConfig;
}
