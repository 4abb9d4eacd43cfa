/** All requests to Nango, and the parts of its answers that we read. Every failure is a `NangoError`. */
import https from 'node:https';
import type { Nango } from '@nangohq/node';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { NangoConfig } from '../../platform/config/config.ts';
import { failureOf, NangoError } from './failure.ts';
import type { Tags } from './link.ts';
import { readPresent } from '@interlude-ai/core/elicitation/form/schema-keywords.ts';

export interface NangoClient {
  /** For connecting one account with one integration in a browser. */
  session(wanted: WantedSession): Promise<ConnectSession>;
  /** For connecting again: the connection keeps its id, and gets these tags when the person is done. */
  reconnectSession(connectionId: string, wanted: WantedSession): Promise<ConnectSession>;
  /** `renew`: gets a new token, even if the old one is still valid. */
  read(integration: string, connectionId: string, options?: { renew?: boolean }): Promise<Connection>;
  /** Those with all of these tags, newest first. May lag behind `read`. */
  list(integration: string, tags: Tags): Promise<Listed[]>;
  remove(integration: string, connectionId: string): Promise<void>;
}

export interface WantedSession {
  integration: string;
  tags: Tags;
  /** The browser cannot change these. */
  scopes: string[];
  authorizationParams: Record<string, string>;
  connectionConfig: Record<string, string>;
}

export interface ConnectSession {
  token: string;
  expiresAt: number;
}

/** Connections that were made in a browser have UUIDs. Checked because the library puts ids into paths unescaped. */
const connectionIdPattern = /^[A-Za-z0-9_-]{1,100}$/;
/** Per attempt; more than one is rare. */
const maxListed = 50;

interface Options {
  nango: Pick<NangoConfig, 'host' | 'apiKey'>;
  logger: Logger;
  timeoutMs: number;
}

export function createNangoClient({ nango: config, logger, timeoutMs }: Options): NangoClient {
  let connected: Promise<Nango> | undefined;

  async function ask<Schema extends z.ZodType>(
    what: string,
    integration: string,
    schema: Schema,
    request: (nango: Nango) => Promise<unknown>,
  ): Promise<z.infer<Schema>> {
    connected ??= connectToNango(config, timeoutMs);
    const nango = await connected;
    let answer: unknown;
    try {
      answer = await request(nango);
    } catch (error) {
      throw nangoError(logger, { request: what, integration }, error);
    }
    const parsed = schema.safeParse(answer);
    if (parsed.success) return parsed.data;
    const unexpected = new NangoError({ kind: 'misconfigured', status: null, code: 'unexpected_answer' });
    throw nangoError(logger, { request: what, integration }, unexpected);
  }

  return {
    async session({ integration, ...wanted }) {
      const { data } = await ask('create session', integration, sessionSchema, (nango) =>
        nango.createConnectSession({
          allowed_integrations: [integration],
          ...common(integration, wanted),
        }),
      );
      return { token: data.token, expiresAt: data.expires_at };
    },
    async reconnectSession(connectionId, { integration, ...wanted }) {
      requireId(connectionId);
      const { data } = await ask('create reconnect session', integration, sessionSchema, (nango) =>
        nango.createReconnectSession({
          connection_id: connectionId,
          integration_id: integration,
          ...common(integration, wanted),
        }),
      );
      return { token: data.token, expiresAt: data.expires_at };
    },
    async read(integration, connectionId, { renew = false } = {}) {
      requireId(connectionId);
      const found = await ask('read connection', integration, connectionSchema, (nango) =>
        nango.getConnection(integration, connectionId, renew),
      );
      return toConnection(found);
    },
    async list(integration, wanted) {
      const { connections } = await ask('list connections', integration, listSchema, (nango) =>
        nango.listConnections({ integrationId: integration, tags: wanted, limit: maxListed }),
      );
      return connections
        .map(({ connection_id, tags: found, created }) => ({
          connectionId: connection_id,
          tags: found,
          createdAt: created,
        }))
        .toSorted((one, other) => other.createdAt - one.createdAt);
    },
    async remove(integration, connectionId) {
      requireId(connectionId);
      await ask('delete connection', integration, z.unknown(), (nango) =>
        nango.deleteConnection(encodeURIComponent(integration), connectionId),
      );
    },
  };
}

/** Logs failures that the operator has to fix. */
function nangoError(
  logger: Logger,
  about: { request: string; integration: string },
  error: unknown,
): NangoError {
  const failure = failureOf(error);
  if (failure.kind === 'misconfigured') {
    const { status, code } = failure;
    const { request, integration } = about;
    logger.error({ integration, request, status, code }, 'Nango refuses; look at its key and integration');
  }
  return new NangoError(failure);
}

function requireId(connectionId: string): void {
  if (!connectionIdPattern.test(connectionId)) throw new NangoError({ kind: 'missing' });
}

function common(integration: string, wanted: Omit<WantedSession, 'integration'>) {
  const { tags: own, scopes, authorizationParams, connectionConfig } = wanted;
  return {
    tags: own,
    integrations_config_defaults: {
      [integration]: {
        ...(Object.keys(authorizationParams).length > 0 && { authorization_params: authorizationParams }),
        connection_config: {
          ...connectionConfig,
          ...(scopes.length > 0 && { oauth_scopes_override: scopes.join(',') }),
        },
      },
    },
  };
}

/**
 * Nango's client library, an optional dependency with its own licence. Loaded only when a server keeps its accounts there.
 */
export async function loadNangoSdk() {
  try {
    return await import('@nangohq/node');
  } catch (error) {
    const words =
      'A server keeps its accounts at Nango, but @nangohq/node is missing; install the optional packages, too: npm install --include=optional';
    throw new Error(`${words}.`, { cause: error });
  }
}

/** By default, the library has no timeout, follows redirects and reads answers of any size. */
async function connectToNango(
  { host, apiKey }: Pick<NangoConfig, 'host' | 'apiKey'>,
  timeoutMs: number,
): Promise<Nango> {
  const { Nango: Client } = await loadNangoSdk();
  const nango = new Client(
    { host, apiKey },
    {
      // With `proxy` below: Node's own agents use the proxy of the environment.
      httpsAgent: https.globalAgent,
      interceptors: {
        // The whole request, which the library's own timeout does not cover.
        request: (request) => Object.assign(request, { signal: AbortSignal.timeout(timeoutMs) }),
      },
    },
  );
  Object.assign(nango.http.defaults, {
    timeout: timeoutMs,
    maxRedirects: 0,
    maxContentLength: 2_097_152,
    proxy: false,
  });
  return nango;
}

export interface Listed {
  connectionId: string;
  tags: Tags;
  createdAt: number;
}

export interface Connection extends Listed {
  integration: string;
  updatedAt: number;
  /** Null when our key may not read it, or the kind of account has no token. */
  token: { accessToken: string; expiresAt: number | null } | null;
  scopes: string[] | null;
  idToken: string | undefined;
}

/** A time. Its format differs between versions of Nango. */
const time = z
  .string()
  .transform((text) => Date.parse(text))
  .refine((milliseconds) => Number.isFinite(milliseconds));
const tags = z.preprocess((some) => readPresent(some ?? {}), z.record(z.string(), z.string()));
const sessionSchema = z.object({ data: z.object({ token: z.string().min(1), expires_at: time }) });
const listSchema = z.object({
  connections: z.array(z.object({ connection_id: z.string(), tags, created: time })),
});
const credentialsSchema = z.object({
  access_token: z.string().nullish(),
  expires_at: time.nullish(),
  raw: z
    .object({
      scope: z.string().optional().catch(undefined),
      id_token: z.string().optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});
const connectionSchema = z.object({
  connection_id: z.string(),
  provider_config_key: z.string(),
  tags,
  created_at: time,
  updated_at: time,
  credentials: credentialsSchema.nullish(),
});

function toConnection(found: z.infer<typeof connectionSchema>): Connection {
  const { access_token: accessToken, expires_at: expiresAt, raw } = found.credentials ?? {};
  return {
    connectionId: found.connection_id,
    integration: found.provider_config_key,
    tags: found.tags,
    createdAt: found.created_at,
    updatedAt: found.updated_at,
    token: accessToken == null ? null : { accessToken, expiresAt: expiresAt ?? null },
    // Separated by spaces, at some well-known providers by commas.
    scopes: raw?.scope === undefined ? null : raw.scope.split(/[\s,]+/).filter((scope) => scope !== ''),
    idToken: raw?.id_token,
  };
}
