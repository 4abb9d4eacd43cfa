/**
 * The typed settings of a process, as `load-config.ts` makes them from the environment and the agents file. Types only: code
 * gets its settings passed in.
 */
import type { loadConfig } from './load-config.ts';

export type { TemporalConfig, TemporalLogin, TemporalTls } from './load-config.ts';
export type { AgentConfig, AskUser, ProvidersConfig } from './agents-file/agents-file.ts';
export type { RemoteAgent, ServerConfig } from './agents-file/server-config.ts';

export type Config = ReturnType<typeof loadConfig>;
export type AuthConfig = NonNullable<Config['auth']>;
export type NangoConfig = NonNullable<Config['nango']>;
export type SlackConfig = NonNullable<Config['slack']>;
type TelemetryConfig = Config['telemetry'];
export type MetricsConfig = NonNullable<TelemetryConfig['metrics']>;
