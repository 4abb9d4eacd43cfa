/**
 * The typed settings of a process, from the environment and the agents file. Types only, imported from everywhere: whoever
 * needs a setting is handed it. `load-config.ts` makes them.
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
  /** The two as their files have them by now. */
  currentLogin?: (() => TemporalLogin) | undefined;
  taskQueue: string;
  /** Where the embedded server listens, and its UI. */
  port: number;
  uiPort: number;
  /** Where browsers reach Temporal's UI. Absent: not known. */
  uiUrl?: string | undefined;
  /** Which versions of the code there are: without a build id, one for each state of the workflow code. */
  deployment: { name: string; buildId: string | undefined };
}

export interface AuthConfig {
  issuer: string;
  audience: string;
  /** The claim that every token must have; null: `tenant` where there is one, and the tenant `default` where not. */
  tenantClaim: string | null;
  /**
   * Operators are users whose token has this role in this claim. Those who have `contentsRole` as well may read what users and
   * agents say. Absent: no token makes an operator.
   */
  operator?: { claim: string; role: string; contentsRole?: string | undefined } | undefined;
  client: { id: string; secret: string | undefined };
  /** What `interlude login` is at the issuer. Absent: it registers itself where the issuer lets it. */
  program?: { clientId: string; scope: string | undefined } | undefined;
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

export interface SlackConfig {
  signingSecret: string;
  /** Of the app, at Slack: with it people prove who they are there, and workspaces install the app. */
  client: { id: string; secret: string } | undefined;
  /** The workspace that is installed by the environment, and the tenant that its people belong to. */
  bot: { token: string; tenant: string } | undefined;
  /** For development: events come over a connection that we open. */
  appToken: string | undefined;
  /** Ends in `/api/`. */
  apiUrl: string;
}

export interface DemoServers {
  trackerPort: number;
  travelPort: number;
  deskPort: number;
  flightsPort: number;
  /** By which the Desk's payment page signs that it is done. */
  deskSecret: string;
}

export interface MetricsConfig {
  /** At `/metrics` of the internal server. */
  prometheus: boolean;
  /** Sent to a collector. */
  otlp: boolean;
  exportIntervalMs: number;
}

/** Everything else about telemetry is in OTEL_ variables, which OpenTelemetry's SDK reads by itself. */
export interface TelemetryConfig {
  /** Whether traces are exported. */
  traces: boolean;
  /** Absent: metrics are off. */
  metrics: MetricsConfig | undefined;
  /** Traces of callers go on in ours. Otherwise they are only linked to it. */
  trustsCallers: boolean;
}

export interface Config {
  /** What is probably a mistake, although everything can be read. */
  warnings: string[];
  http: {
    port: number;
    host: string;
    publicUrl: string;
    /** Proxies in front of us, by address or network: only their `x-forwarded-for` is believed. */
    /** Addresses and networks; true for all, false for none. */
    trustProxy: string[] | boolean;
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
  /** Where operators' probes ask this process, apart from everything that is public. Absent: nowhere. */
  internal: { host: string; port: number } | undefined;
  /** Urls as the files of secrets have them by now, for each new connection. `directUrl`: past a connection pooler at `url`. */
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
  /** `INTERLUDE_KEYS` as given; absent: keys are generated into `dataDir`, for the embedded default only. */
  keys: string | undefined;
  /** Present as soon as a server keeps its accounts there. */
  nango: NangoConfig | undefined;
  /** Absent: there is no Slack app. */
  slack: SlackConfig | undefined;
  /**
   * Of users' messages. `maxBytes`: of one. `maxBytesPerConversation`: of the newest, together, that a model is given or a
   * reader gets at once.
   */
  images: {
    perMessage: number;
    maxBytes: number;
    maxBytesPerMessage: number;
    maxBytesPerConversation: number;
  };
  /** How many questions may be open at once: of one user, and of one turn. */
  elicitation: { timeoutMs: number; retentionMs: number; maxOpen: number; maxOpenPerTurn: number };
  /** `signingKeys`: newest first; without one nothing is signed. `targets`: where notifications may be sent. */
  a2a: { signingKeys: SigningKey[]; targets: 'public' | 'local'; pushDeadlineMs: number };
  /** How often a task may be handed on, below the turn's own agent; and how many tasks may be handed out in one step. */
  delegation: { maxDepth: number; maxPerStep: number };
  /** What one worker does at once: calls at work, and calls whose servers hold the line while people think. */
  worker: { calls: number; heldCalls: number };
  /** How long a process that is told to stop waits for the calls of its worker. */
  shutdownGraceMs: number;
  /** The most that a turn may take; then it is ended. */
  turn: { timeoutMs: number };
  agents: Map<string, AgentConfig>;
  /** What turns call: MCP servers, and remote agents, by the name that agents use. */
  servers: Map<string, ServerConfig>;
  providers: ProvidersConfig;
  /** The agents file; paths in it are relative to its folder, `configDir`. */
  configFile: string;
  configDir: string;
  /** Reads a secret named in the agents file, as its file has it by now. */
  secret: (name: string) => string | undefined;
  /** Where the demo's own servers listen. The MCP servers among them are started only with the demo's agents file. */
  demo: { identityPort: number; servers: DemoServers | undefined };
  /** Where traces are shown, with `{traceId}` in place of the id. Absent: nowhere. */
  traceUrl?: string | undefined;
  logLevel: string;
  telemetry: TelemetryConfig;
}
