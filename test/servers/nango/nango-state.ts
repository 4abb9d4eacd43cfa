/** All that the double remembers, and the knobs that its parts look at. */
import { randomUUID } from 'node:crypto';
import type { AccountProvider } from './account-provider.ts';
import type { Sockets } from './sockets.ts';
import type {
  Delivery,
  KeptConnection,
  KeptCredentials,
  NangoDoubleOptions,
  Scope,
  SeenRequest,
  Tags,
  WebhookMode,
} from './types.ts';

export interface Defaults {
  user_scopes?: string | undefined;
  authorization_params?: Record<string, string> | undefined;
  connection_config?: Record<string, unknown> | undefined;
}

export interface ConnectSession {
  token: string;
  expiresAt: number;
  allowed: string[] | null;
  tags: Tags;
  webhookUrlOverride: string | null;
  defaults: Record<string, Defaults>;
  /** Reconnecting: which one. */
  connection: KeptConnection | null;
}

/** One way to the provider and back. Outlives its session: then it has none, and the connection gets no tags. */
export interface Flow {
  state: string;
  session: ConnectSession | null;
  connection: KeptConnection | null;
  webhookUrlOverride: string | null;
  integration: string;
  codeVerifier: string;
  connectionConfig: Record<string, unknown>;
  socketId: string | null;
}

export interface Settings {
  onAuthCreation: boolean;
  onAuthRefreshError: boolean;
  webhookUrl: string | undefined;
  webhook: WebhookMode;
  webhookRetryMs: [number, number];
  dropSuccessFrame: boolean;
  hang: boolean;
  retryAfterSeconds: number | null;
  callbackUrl: string | null;
  enforceStateCookie: boolean;
  tokenLifeMs: number | null;
}

export interface NangoState {
  host: string;
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

export const integrations = ['tracker', 'notes'] as const;
export const providerName = 'acme';
export const ownScopes = ['issues:read', 'issues:write'];

let lastId = 0;

export function keep(
  state: NangoState,
  made: Pick<KeptConnection, 'integration' | 'tags' | 'webhookUrlOverride' | 'connectionConfig'> & {
    connectionId?: string;
    credentials: KeptCredentials;
  },
): KeptConnection {
  const connection: KeptConnection = {
    id: ++lastId,
    connectionId: randomUUID(),
    metadata: null,
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
export function override(
  state: NangoState,
  connection: KeptConnection,
  made: Pick<KeptConnection, 'tags' | 'webhookUrlOverride' | 'connectionConfig' | 'credentials'>,
): void {
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
