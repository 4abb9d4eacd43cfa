/**
 * Who we are at an authorization server. In this order: a client that an operator registered there, our own
 * metadata document as client id, dynamic registration. A registration is kept per server, sign-in server and redirect
 * address: what one server has a part in is never used for another.
 */
import { registerClient, RegistrationRejectedError } from '@modelcontextprotocol/client';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { storeError } from '../store-error.ts';
import {
  clientDocumentUrl,
  clientMetadata,
  isSameIssuer,
  issuerTag,
  redirectUri,
} from './client-metadata.ts';
import type { AuthorizationServer } from './discovery.ts';
import type { Outbound } from './outbound.ts';
import type { Records } from './records.ts';
import { inWords } from './failure.ts';

const registeredSchema = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
});

/** Which client an attempt or a connection belongs to. A configured secret stays in the configuration. */
export const clientSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('configured'), clientId: z.string() }),
  z.object({ kind: z.literal('document'), clientId: z.string() }),
  z.object({ kind: z.literal('registered'), registration: registeredSchema }),
]);
type Client = z.infer<typeof clientSchema>;

const recordSchema = z.object({
  registration: registeredSchema,
  /** When somebody was first sent there since the last one came back; null when nobody is on the way. */
  awayFrom: z.number().nullable(),
});

export interface Registrations {
  clientFor(server: ServerConfig, authorizationServer: AuthorizationServer): Promise<Client>;
  /** What this issuer's token endpoint is told; null when the configuration does not have this client there. */
  informationOf(
    client: Client,
    issuer: string,
    server: Pick<ServerConfig, 'oauth'>,
  ): OAuthClientInformationMixed | null;
  /** Somebody came back from the server as this client, so the server knows it. */
  confirm(client: Client, where: Where): Promise<void>;
  /** The server does not know the client any more; the next one registers anew. */
  forget(client: Client, where: Where): Promise<void>;
}

interface Where {
  serverUrl: string;
  issuer: string;
}

/**
 * A server that lost a registration shows its own error page and sends nobody back. So when nobody has come
 * back for this long, the next person is sent as a new client.
 */
const suspiciousAfterMs = 120_000;

export function createRegistrations(deps: {
  records: Records;
  outbound: Outbound;
  publicUrl: string;
  secret: (name: string) => string | undefined;
  now: () => number;
}): Registrations {
  const { records, outbound, publicUrl, secret, now } = deps;
  const recordKey = ({ serverUrl, issuer }: Where) =>
    `client:${serverUrl} ${issuer} ${redirectUri(publicUrl, issuer)}`;

  async function registered(server: ServerConfig, authorizationServer: AuthorizationServer): Promise<Client> {
    const key = recordKey({ serverUrl: server.url, issuer: authorizationServer.issuer });
    const known = (await records.recall(key, recordSchema))?.value;
    if (known && !isSpent(known.registration) && !isSuspicious(known.awayFrom)) {
      if (known.awayFrom === null) await records.remember(key, { ...known, awayFrom: now() });
      return { kind: 'registered', registration: known.registration };
    }
    const registration = await register(server, authorizationServer);
    await records.remember(key, { registration, awayFrom: now() });
    return { kind: 'registered', registration };
  }

  async function register(server: ServerConfig, authorizationServer: AuthorizationServer) {
    const { client_id: _, ...metadata } = clientMetadata(publicUrl, issuerTag(authorizationServer.issuer));
    try {
      const answer = await registerClient(authorizationServer.issuer, {
        metadata: authorizationServer,
        clientMetadata: { ...metadata, token_endpoint_auth_method: authMethod(authorizationServer) },
        fetchFn: outbound.of(server).fetch,
      });
      return registeredSchema.parse(answer);
    } catch (error) {
      if (error instanceof RegistrationRejectedError) {
        const overloaded = error.status >= 500 || error.status === 429;
        throw overloaded
          ? storeError(server, 'its sign-in server cannot register us now; try again later')
          : byHand(server, authorizationServer, 'refuses to register us');
      }
      throw inWords(server, error);
    }
  }

  const byHand = (server: ServerConfig, { issuer }: AuthorizationServer, problem: string) =>
    storeError(
      server,
      `its sign-in server ${problem}, so the operator of this service has to do it`,
      `register a client there with the redirect ${redirectUri(publicUrl, issuer)} and put its id under ` +
        `oauth.clientId, and ${issuer} under oauth.issuer, of servers.${server.name} in the agents file`,
    );
  const isSpent = ({ client_secret_expires_at: end }: z.infer<typeof registeredSchema>) =>
    Boolean(end && end * 1000 <= now() + 60_000);
  const isSuspicious = (awayFrom: number | null) => awayFrom !== null && now() - awayFrom > suspiciousAfterMs;

  async function ifCurrent(
    client: Client,
    where: Where,
    then: (key: string) => Promise<void>,
  ): Promise<void> {
    if (client.kind !== 'registered') return;
    const key = recordKey(where);
    const known = (await records.recall(key, recordSchema))?.value;
    if (known?.registration.client_id === client.registration.client_id) await then(key);
  }

  return {
    async clientFor(server, authorizationServer) {
      const clientId = server.oauth?.clientId;
      if (clientId !== undefined) return { kind: 'configured', clientId };
      if (authorizationServer.client_id_metadata_document_supported && publicUrl.startsWith('https:')) {
        return { kind: 'document', clientId: clientDocumentUrl(publicUrl, authorizationServer.issuer) };
      }
      if (authorizationServer.registration_endpoint) return registered(server, authorizationServer);
      throw byHand(server, authorizationServer, 'does not let us register ourselves');
    },

    informationOf(client, issuer, { oauth }) {
      switch (client.kind) {
        case 'configured': {
          // It is a client of the sign-in server it was written for, and its secret goes nowhere else.
          const isThere = oauth?.issuer !== undefined && isSameIssuer(oauth.issuer, issuer);
          if (oauth?.clientId !== client.clientId || !isThere) return null;
          const name = oauth.clientSecretEnv;
          const clientSecret = name === undefined ? undefined : secret(name);
          return {
            client_id: client.clientId,
            ...(clientSecret !== undefined && { client_secret: clientSecret }),
          };
        }
        case 'document':
          return { client_id: client.clientId };
        case 'registered':
          return client.registration;
        default:
          return client satisfies never;
      }
    },

    confirm: (client, where) =>
      ifCurrent(client, where, async (key) => {
        if (client.kind === 'registered')
          await records.remember(key, { registration: client.registration, awayFrom: null });
      }),
    forget: (client, where) => ifCurrent(client, where, (key) => records.forget(key)),
  };
}

/** In the body rather than by HTTP Basic where there is a choice: servers disagree on how Basic is encoded. */
function authMethod({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer): string {
  const methods = supported ?? ['client_secret_basic'];
  return (
    ['client_secret_post', 'client_secret_basic', 'none'].find((method) => methods.includes(method)) ?? 'none'
  );
}
