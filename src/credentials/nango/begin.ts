/** Begins to connect an account at Nango: an attempt of ours, and a Nango session that carries its id. */
import { randomBytes } from 'node:crypto';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { ConnectAttempt } from '../../storage/tables/connecting.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/schema/account-tables.ts';
import { requireScope } from '../connection-key.ts';
import type { ConnectSession, NangoClient, WantedSession } from './client.ts';
import { NangoError, toStoreError } from './failure.ts';
import { integrationOf, openLink, tagsOf } from './link.ts';
import type { Link } from './link.ts';
import type { NangoParts } from './parts.ts';

export interface NangoBegin {
  server: ServerConfig;
  key: ConnectionKey;
  /** Null when no question asked for it: the user connects an account by themselves. */
  elicitationId: string | null;
  /** The id of the user who connects the account. */
  actor: string;
  /** The scopes that the question asks for. */
  scopes?: string[] | undefined;
}

/** What a browser needs for it. The token is a secret of its user, valid for half an hour at most. */
export interface NangoAttempt {
  id: string;
  token: string;
  host: string;
  websocketsPath: string;
  integration: string;
  /** For browsers without scripts: a page that leads to the provider and does not come back. */
  pageUrl: string;
  expiresAt: number;
}

const hourMs = 3_600_000;
/** Nango accepts a return from the provider for two days. */
const attemptLifeMs = 72 * hourMs;
/** How long an attempt is reused, so that it outlives every sign-in that began with it. */
const reusableForMs = 12 * hourMs;

/** Uses the open attempt of the question, if there is one. Throws `CredentialStoreError`. */
export async function begin(parts: NangoParts, input: NangoBegin): Promise<NangoAttempt> {
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
    // The MCP server to connect to. Otherwise the browser could choose another one.
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

/** An attempt that has brought an account cannot bring another: the two could not be distinguished. */
async function openAttempt(
  { storage, now }: NangoParts,
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
      attempt.expiresAt - now() > attemptLifeMs - reusableForMs,
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
): Promise<ConnectSession> {
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

/** Nango uses the same code for an unknown integration; then the new session fails as well. */
function isUnknownConnection(error: unknown): boolean {
  return (
    error instanceof NangoError &&
    (error.failure.kind === 'missing' ||
      (error.failure.kind === 'misconfigured' && error.failure.status === 400))
  );
}

/** Empty: those of the integration. Otherwise all of them, including those that are held, so that none is lost. */
function scopesToRequest({ nango }: ServerConfig, row: ConnectionRow | null, asked: string[] = []): string[] {
  const configured = nango?.scopes ?? [];
  if (configured.length === 0 && asked.length === 0) return [];
  return [...new Set([...configured, ...(row?.scopes ?? []), ...asked])];
}
