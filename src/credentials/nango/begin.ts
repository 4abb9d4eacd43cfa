/** The way to an account at Nango: an attempt of ours, and a session of Nango's that carries its id. */
import { randomBytes } from 'node:crypto';
import type { NangoConfig, ServerConfig } from '../../config/config.ts';
import type { ConnectAttempt } from '../../storage/ports/connect-attempts.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import { requireScope } from '../connection-key.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { NangoClient, Session, WantedSession } from './client.ts';
import { NangoError, toStoreError } from './failure.ts';
import { integrationOf, openLink, tagsOf } from './link.ts';
import type { Link } from './link.ts';

export interface NangoBegin {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null when nobody asked: the user connects of their own accord. */
  elicitationId: string | null;
  /** Who goes there. */
  actor: string;
  /** What the question asked for. */
  scopes?: string[] | undefined;
}

/** What a browser needs to go there. A secret of the person it was made for, good for half an hour at most. */
export interface NangoAttempt {
  id: string;
  token: string;
  host: string;
  websocketsPath: string;
  integration: string;
  /** The way without a script: a page that leads to the provider and does not come back. */
  pageUrl: string;
  /** Epoch milliseconds. */
  expiresAt: number;
}

interface Dependencies {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  client: NangoClient;
  nango: Pick<NangoConfig, 'publicUrl' | 'websocketsPath'>;
  installation: string;
  now: () => number;
}

const hourMs = 3_600_000;
/** At Nango, somebody may come back from the provider for two days. */
const attemptLifeMs = 72 * hourMs;
/** So that whatever begins with it ends well before it does. */
const takenUpForMs = 12 * hourMs;

export function createBegin(parts: Dependencies) {
  return (input: NangoBegin) => begin(parts, input);
}

async function begin(parts: Dependencies, input: NangoBegin): Promise<NangoAttempt> {
  const { storage, keys, client, nango } = parts;
  const { server } = input;
  const key = requireScope(server, input.key);
  const integration = integrationOf(server);
  const row = await storage.connections.get(key);
  const opened = openLink(keys, row);
  const link = opened.kind === 'link' ? opened.link : null;
  const known = await openAttempt(parts, key, input, link);
  const attempt = known ?? newAttempt(key, input, parts.now());
  const session = await openSession(client, server, link, {
    integration,
    tags: tagsOf(parts.installation, attempt.id),
    scopes: scopesToRequest(server, row, input.scopes),
    authorizationParams: server.nango?.params ?? {},
    // What integrations of MCP servers connect to: otherwise the browser could choose another server.
    connectionConfig: { mcp_server_url: server.url },
  });
  if (!known) await storage.connectAttempts.save(attempt);
  const page = new URL(`${nango.publicUrl}/oauth/connect/${encodeURIComponent(integration)}`);
  page.searchParams.set('connect_session_token', session.token);
  return {
    id: attempt.id,
    token: session.token,
    host: nango.publicUrl,
    websocketsPath: nango.websocketsPath,
    integration,
    pageUrl: page.href,
    expiresAt: session.expiresAt,
  };
}

/** One that has brought an account cannot bring another: nobody could tell them apart. */
async function openAttempt(
  { storage, now }: Dependencies,
  key: ConnectionKey,
  { elicitationId, actor }: NangoBegin,
  link: Link | null,
): Promise<ConnectAttempt | undefined> {
  const open = await storage.connectAttempts.openOf(key);
  return open.find(
    (attempt) =>
      attempt.elicitationId === elicitationId &&
      attempt.actor === actor &&
      attempt.id !== link?.attemptId &&
      attempt.expiresAt - now() > attemptLifeMs - takenUpForMs,
  );
}

function newAttempt(
  key: ConnectionKey,
  { elicitationId, actor }: NangoBegin,
  createdAt: number,
): ConnectAttempt {
  const id = randomBytes(16).toString('base64url');
  return { ...key, id, elicitationId, actor, createdAt, expiresAt: createdAt + attemptLifeMs };
}

async function openSession(
  client: NangoClient,
  server: ServerConfig,
  link: Link | null,
  wanted: WantedSession,
): Promise<Session> {
  try {
    if (link?.integration === wanted.integration) {
      const again = await client.reconnectSession(link.connectionId, wanted).catch((error: unknown) => {
        if (isUnknownConnection(error)) return null;
        throw error;
      });
      if (again) return again;
    }
    return await client.session(wanted);
  } catch (error) {
    throw toStoreError(server, error);
  }
}

/** Nango answers with the same code when the integration is unknown; then a new session fails as well. */
function isUnknownConnection(error: unknown): boolean {
  return (
    error instanceof NangoError &&
    (error.failure.kind === 'missing' ||
      (error.failure.kind === 'misconfigured' && error.failure.status === 400))
  );
}

/** Empty: those of the integration. As soon as there are others, all of them, so that nothing is lost that is held. */
function scopesToRequest({ nango }: ServerConfig, row: ConnectionRow | null, asked: string[] = []): string[] {
  const configured = nango?.scopes ?? [];
  if (configured.length === 0 && asked.length === 0) return [];
  return [...new Set([...configured, ...(row?.scopes ?? []), ...asked])];
}
