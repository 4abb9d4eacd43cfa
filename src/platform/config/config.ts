/**
 * The typed settings of a process, as `load-config.ts` makes them from the environment and the agents file. Types only: code
 * gets its settings passed in.
 */
import type { loadConfig } from './load-config.ts';

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

/**
 * Urls are read from files of secrets again for each new connection. `directUrl` bypasses a connection pooler at `url`.
 */
export type DatabaseConfig =
  | { kind: 'sqlite'; path: string }
  | {
      kind: 'postgres';
      url: string;
      currentUrl?: (() => string) | undefined;
      directUrl?: string | (() => string) | undefined;
    };

export type Config = ReturnType<typeof loadConfig>;
export type AuthConfig = NonNullable<Config['auth']>;
export type NangoConfig = NonNullable<Config['nango']>;
export type SlackConfig = NonNullable<Config['slack']>;
export type DemoServers = NonNullable<Config['demo']['servers']>;
export type TelemetryConfig = Config['telemetry'];
export type MetricsConfig = NonNullable<TelemetryConfig['metrics']>;
