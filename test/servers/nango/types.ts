/** What tests see of the double of Nango's server. */
import type { AccountProvider } from './account-provider.ts';

/** As Nango names what a key may do. */
export type Scope =
  | 'environment:connect_sessions:write'
  | 'environment:integrations:list'
  | 'environment:integrations:read'
  | 'environment:connections:list'
  | 'environment:connections:read'
  | 'environment:connections:read_credentials'
  | 'environment:connections:create'
  | 'environment:connections:update'
  | 'environment:connections:delete';

export type Tags = Record<string, string>;

export interface KeptCredentials {
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
  webhookUrlOverride: string | null;
  connectionConfig: Record<string, unknown>;
  metadata: Record<string, unknown> | null;
  credentials: KeptCredentials;
  createdAt: number;
  updatedAt: number;
  lastFetchedAt: number | null;
  /** When the last refresh was refused; null while all is well. */
  refusedAt: number | null;
  /** Refused on four different days: until it is connected anew. */
  isExhausted: boolean;
}

export interface SeenRequest {
  method: string;
  /** Path and query, with session tokens taken out. */
  path: string;
  /** Of the key that was sent: its name, `unknown`, or null when none was sent. */
  key: string | null;
  /** Null while it is not answered. */
  status: number | null;
}

export type WebhookMode = 'normal' | 'never' | 'twice' | 'failFirst' | { delayMs: number };

export interface Delivery {
  url: string;
  /** The very bytes. */
  body: string;
  headers: Record<string, string>;
  /** Status of each try; 0 for one without an answer. */
  tries: number[];
}

export interface NangoDouble {
  /** Origin of the API, of the browser's way in and of the WebSocket. */
  host: string;
  /** Of the whole environment. */
  apiKey: string;
  webhookSigningKey: string;
  /** Unique keys of its integrations; both lead to the same provider. */
  integration: 'tracker';
  otherIntegration: 'notes';
  provider: AccountProvider;
  /** Makes a key that may do only this. */
  keyFor(...scopes: Scope[]): string;

  requests: SeenRequest[];
  /** How many requests of this method and path (without query) were seen; the path may end with `*`. */
  count(method: string, path: string): number;
  connections(): KeptConnection[];
  deliveries: readonly Delivery[];
  /** Resolves when so many webhooks in all have been delivered or given up. */
  delivered(howMany: number): Promise<void>;
  /** WebSockets open right now. */
  sockets(): number;
  /** Clients that ever opened a WebSocket. */
  socketsEver(): number;

  /** Where the environment's webhooks go; undefined, as after installation, sends none (but to overrides). */
  webhookUrl: string | undefined;
  /** Settings of the environment; both are off right after installation. Reconnects are always reported. */
  onAuthCreation: boolean;
  onAuthRefreshError: boolean;
  webhook: WebhookMode;
  /** Before the second and the third try. */
  webhookRetryMs: [number, number];
  /** Sends the same bytes again, as an attacker could. Returns the status. */
  replay(delivery?: Delivery): Promise<number>;
  /** A webhook without the signing key, or with only the legacy signature of the real one. */
  forge(
    url: string,
    body: object,
    how?: 'wrong-key' | 'legacy-only' | 'unsigned' | 'signed',
  ): Promise<number>;
  /** The connection is made, but the page gets no message. */
  dropSuccessFrame: boolean;
  /** As an idle proxy does it. */
  cutSockets(): void;
  /** Connections to it are refused. Answers when they are. */
  down(): Promise<void>;
  up(): Promise<void>;
  /** API requests are accepted and never answered; those in hand are dropped when it ends. */
  hang: boolean;
  /** Every API request from now on gets 429; `null` ends it. */
  rateLimit(retryAfterSeconds: number | null): void;
  /** How the provider treats refreshes; both look alike from outside Nango. Null: it grants them. */
  failRefresh(how: 'invalid_grant' | 'outage' | null): void;
  /** Refreshing failed on four days. */
  exhaust(connectionId: string): void;
  /** The environment's; null: Nango's own. */
  callbackUrl: string | null;
  /** Refuses callbacks of browsers that the flow was not begun in. */
  enforceStateCookie: boolean;
  /** Life of the provider's tokens given from now on; null gives tokens that never end. */
  tokenLifeMs: number | null;
  /** Moves the clock of the double and its provider forward. */
  advance(milliseconds: number): void;
  /** Puts a connection there as an operator could, with `POST /connections`. */
  importConnection(person: 'alice' | 'bob', tags?: Tags): Promise<string>;
  stop(): Promise<void>;
}

export interface NangoDoubleOptions {
  port?: number;
  tokenLifeMs?: number | null;
  /** Tokens are renewed on reading when less than this is left. */
  refreshWithinMs?: number;
  /** For how long reading is refused after a refused refresh. */
  coolDownMs?: number;
  sessionLifeMs?: number;
  /** 200, as Nango has it; null for no limit. */
  requestsPerMinute?: number | null;
  websocketsPath?: string;
}
