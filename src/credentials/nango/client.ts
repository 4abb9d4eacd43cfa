/** What we ask of Nango, and nothing else. Every failure is a `NangoError`. */
import type { Nango } from '@nangohq/node';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { NangoConfig } from '../../config/config.ts';
import { connectionSchema, listSchema, sessionSchema, toConnection } from './answers.ts';
import type { Connection, Listed } from './answers.ts';
import { NangoError, failureOf } from './failure.ts';
import type { Tags } from './link.ts';

export interface NangoClient {
  /** Lets a browser connect one account with one integration. */
  session(wanted: WantedSession): Promise<Session>;
  /** The same with a connection that is there: it keeps its id and gets these tags when the person is done. */
  reconnectSession(connectionId: string, wanted: WantedSession): Promise<Session>;
  /** `renew`: with a new token, whatever is left of the old one. */
  read(integration: string, connectionId: string, options?: { renew?: boolean }): Promise<Connection>;
  /** Those that carry all of these tags, newest first. May be a moment behind `read`. */
  list(integration: string, tags: Tags): Promise<Listed[]>;
  remove(integration: string, connectionId: string): Promise<void>;
}

export interface WantedSession {
  integration: string;
  tags: Tags;
  /** Cannot be changed by the browser. */
  scopes: string[];
  authorizationParams: Record<string, string>;
  connectionConfig: Record<string, string>;
}

export interface Session {
  token: string;
  expiresAt: number;
}

/** Ids of connections that were made in a browser are UUIDs, and the library puts them into paths as they are. */
const connectionIdPattern = /^[A-Za-z0-9_-]{1,100}$/;
/** Of one attempt; more than one is rare. */
const mostListed = 50;

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
        nango.listConnections({ integrationId: integration, tags: wanted, limit: mostListed }),
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

/** What an operator has to see to is logged. */
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
 * Nango's own client library, loaded when a server keeps its accounts there and not before: it is an optional
 * dependency with a licence of its own.
 */
export async function loadNangoSdk() {
  try {
    return await import('@nangohq/node');
  } catch (error) {
    const words = 'A server keeps its accounts at Nango, but @nangohq/node is missing; install it (npm ci)';
    throw new Error(`${words}.`, { cause: error });
  }
}

/** As it comes, the library waits for ever, follows redirects and reads answers of any size. */
async function connectToNango(
  { host, apiKey }: Pick<NangoConfig, 'host' | 'apiKey'>,
  timeoutMs: number,
): Promise<Nango> {
  const { Nango: Client } = await loadNangoSdk();
  const nango = new Client(
    { host, apiKey },
    {
      interceptors: {
        // From the first byte asked to the last one read, which the library's own timeout does not cover.
        request: (request) => Object.assign(request, { signal: AbortSignal.timeout(timeoutMs) }),
      },
    },
  );
  Object.assign(nango.http.defaults, { timeout: timeoutMs, maxRedirects: 0, maxContentLength: 2_097_152 });
  return nango;
}
