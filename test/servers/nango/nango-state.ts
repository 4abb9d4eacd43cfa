/** All that the double of Nango remembers, and what tests set and see of it. */
import { randomUUID } from 'node:crypto';
import type { AccountProvider } from './account-provider.ts';
import type { Sockets } from './sockets.ts';

/** As Nango names what a key may do. */
export type Scope =
  | 'environment:connect_sessions:write'
  | 'environment:connections:list'
  | 'environment:connections:read'
  | 'environment:connections:read_credentials'
  | 'environment:connections:delete';

export type Tags = Record<string, string>;

interface KeptCredentials {
  accessToken: string;
  refreshToken: string | undefined;
  /** Epoch milliseconds, by the double's clock; null for a token that never ends. */
  expiresAt: number | null;
  raw: Record<string, unknown>;
}

export interface KeptConnection {
  /** Counted up, so that the newest is known even within one millisecond. */
  id: number;
  connectionId: string;
  integration: string;
  tags: Tags;
  connectionConfig: Record<string, unknown>;
  credentials: KeptCredentials;
  createdAt: number;
  updatedAt: number;
  lastFetchedAt: number | null;
  /** When the last refresh was refused; null while all is well. */
  refusedAt: number | null;
  /** Refused on four different days: until it is connected anew. */
  isExhausted: boolean;
}

export interface Defaults {
  authorization_params?: Record<string, string> | undefined;
  connection_config?: Record<string, unknown> | undefined;
}

export interface ConnectSession {
  token: string;
  expiresAt: number;
  allowed: string[] | null;
  tags: Tags;
  defaults: Record<string, Defaults>;
  /** Reconnecting: which one. */
  connection: KeptConnection | null;
}

/** One way to the provider and back. Outlives its session. */
export interface Flow {
  state: string;
  session: ConnectSession;
  integration: string;
  codeVerifier: string;
  connectionConfig: Record<string, unknown>;
  socketId: string | null;
}

interface SeenRequest {
  method: string;
  /** Path and query, with session tokens taken out. */
  path: string;
  /** Of the key that was sent: its name, `unknown`, or null when none was sent. */
  key: string | null;
  /** Null while it is not answered. */
  status: number | null;
}

export interface Delivery {
  url: string;
  /** The very bytes. */
  body: string;
  headers: Record<string, string>;
  /** Status of each try; 0 for one without an answer. */
  tries: number[];
}

/** What a test may change at any time. */
export interface Settings {
  /** Where the environment's webhooks go; undefined, as after installation, sends none. */
  webhookUrl: string | undefined;
  /** Settings of the environment; both are off right after installation. Reconnects are always reported. */
  onAuthCreation: boolean;
  onAuthRefreshError: boolean;
  webhook: 'normal' | 'never' | 'twice' | 'failFirst' | { delayMs: number };
  /** Before the second and the third try. */
  webhookRetryMs: [number, number];
  /** The connection is made, but the page gets no message. */
  dropSuccessFrame: boolean;
  /** API requests are accepted and never answered; those in hand are dropped when it ends. */
  hang: boolean;
  retryAfterSeconds: number | null;
  /** The environment's; null: Nango's own. */
  callbackUrl: string | null;
  /** Refuses callbacks of browsers that the flow was not begun in. */
  enforceStateCookie: boolean;
  /** Life of the provider's tokens given from now on; null gives tokens that never end. */
  tokenLifeMs: number | null;
}

export interface NangoState {
  /** Origin of the API, of the browser's way in and of the WebSocket. */
  host: string;
  /** Of the whole environment. */
  apiKey: string;
  webhookSigningKey: string;
  /** Key → its name and what it may do. */
  keys: Map<string, { name: string; scopes: Scope[] | 'all' }>;
  options: Required<NangoDoubleOptions>;
  settings: Settings;
  provider: AccountProvider;
  sessions: Map<string, ConnectSession>;
  flows: Map<string, Flow>;
  connections: KeptConnection[];
  refreshing: Map<KeptConnection, Promise<void>>;
  requests: SeenRequest[];
  deliveries: Delivery[];
  /** Deliveries that have come to their end, and who waits for one to. */
  settled: number;
  waiting: (() => void)[];
  sockets: Sockets;
  now(): number;
}

export interface NangoDoubleOptions {
  port?: number;
  tokenLifeMs?: number | null;
  /** Tokens are renewed on reading when less than this is left. */
  refreshWithinMs?: number;
  sessionLifeMs?: number;
  /** 200, as Nango has it; null for no limit. */
  requestsPerMinute?: number | null;
  websocketsPath?: string;
}

/** Unique keys of its integrations; both lead to the same provider. */
export const integrations = ['tracker', 'notes'] as const;
export const providerName = 'acme';

let lastId = 0;

type Made = Pick<KeptConnection, 'tags' | 'connectionConfig' | 'credentials'>;

export function keep(state: NangoState, integration: string, made: Made): KeptConnection {
  const connection: KeptConnection = {
    id: ++lastId,
    connectionId: randomUUID(),
    integration,
    createdAt: state.now(),
    updatedAt: state.now(),
    lastFetchedAt: null,
    refusedAt: null,
    isExhausted: false,
    ...made,
  };
  state.connections.push(connection);
  return connection;
}

/** Connected anew under the same id: what is not given again is gone. */
export function override(state: NangoState, connection: KeptConnection, made: Made): void {
  Object.assign(connection, made, { updatedAt: state.now(), refusedAt: null, isExhausted: false });
}

export function credentialsFrom(state: NangoState, raw: Record<string, unknown>): KeptCredentials {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = raw;
  return {
    accessToken: String(accessToken),
    refreshToken: typeof refreshToken === 'string' ? refreshToken : undefined,
    expiresAt: typeof seconds === 'number' ? state.now() + seconds * 1000 : null,
    raw,
  };
}
