/**
 * Who we are at an authorization server. In this order: a client that an operator registered there, our own
 * metadata document as client id, dynamic registration. A registration is kept per server and redirect address.
 */
import { registerClient, RegistrationRejectedError } from '@modelcontextprotocol/client';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config.ts';
import type { AuthorizationServer } from './discovery.ts';
import type { Outbound } from './outbound.ts';
import type { Records } from './records.ts';
import { inWords, trouble } from './trouble.ts';

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

/** Served at `<PUBLIC_URL>/auth/client.json`; its own address is the client id. */
export function clientMetadata(publicUrl: string) {
  return {
    client_id: `${publicUrl}/auth/client.json`,
    client_name: 'Interlude',
    client_uri: publicUrl,
    redirect_uris: [redirectUri(publicUrl)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isLoopback(publicUrl) ? 'native' : 'web',
  };
}

export function redirectUri(publicUrl: string): string {
  return `${publicUrl}/auth/callback`;
}

export interface Registrations {
  clientFor(server: ServerConfig, authorizationServer: AuthorizationServer): Promise<Client>;
  /** What the token endpoint is told; null when the configuration no longer has this client. */
  informationOf(client: Client, server: Pick<ServerConfig, 'oauth'>): OAuthClientInformationMixed | null;
  /** Somebody came back from the server as this client, so the server knows it. */
  confirm(client: Client, issuer: string): Promise<void>;
  /** The server does not know the client any more; the next one registers anew. */
  forget(client: Client, issuer: string): Promise<void>;
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
  const recordKey = (issuer: string) => `client:${issuer} ${redirectUri(publicUrl)}`;

  async function registered(server: ServerConfig, authorizationServer: AuthorizationServer): Promise<Client> {
    const key = recordKey(authorizationServer.issuer);
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
    const { client_id: _, ...metadata } = clientMetadata(publicUrl);
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
        throw trouble(
          server,
          overloaded
            ? 'its sign-in server cannot register us now; try again later'
            : byHand('refuses to register us'),
        );
      }
      throw inWords(server, error);
    }
  }

  const byHand = (problem: string) =>
    `its sign-in server ${problem}; register a client there with the redirect ${redirectUri(publicUrl)} ` +
    'and put its id under oauth.clientId of the server in the agents file';
  const isSpent = ({ client_secret_expires_at: end }: z.infer<typeof registeredSchema>) =>
    Boolean(end && end * 1000 <= now() + 60_000);
  const isSuspicious = (awayFrom: number | null) => awayFrom !== null && now() - awayFrom > suspiciousAfterMs;

  async function ifCurrent(
    client: Client,
    issuer: string,
    then: (key: string) => Promise<void>,
  ): Promise<void> {
    if (client.kind !== 'registered') return;
    const key = recordKey(issuer);
    const known = (await records.recall(key, recordSchema))?.value;
    if (known?.registration.client_id === client.registration.client_id) await then(key);
  }

  return {
    async clientFor(server, authorizationServer) {
      if (server.oauth) return { kind: 'configured', clientId: server.oauth.clientId };
      if (authorizationServer.client_id_metadata_document_supported && publicUrl.startsWith('https:')) {
        return { kind: 'document', clientId: clientMetadata(publicUrl).client_id };
      }
      if (authorizationServer.registration_endpoint) return registered(server, authorizationServer);
      throw trouble(server, byHand('does not let us register ourselves'));
    },

    informationOf(client, server) {
      switch (client.kind) {
        case 'configured': {
          if (server.oauth?.clientId !== client.clientId) return null;
          const name = server.oauth.clientSecretEnv;
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

    confirm: (client, issuer) =>
      ifCurrent(client, issuer, async (key) => {
        if (client.kind === 'registered')
          await records.remember(key, { registration: client.registration, awayFrom: null });
      }),
    forget: (client, issuer) => ifCurrent(client, issuer, (key) => records.forget(key)),
  };
}

/** In the body rather than by HTTP Basic where there is a choice: servers disagree on how Basic is encoded. */
function authMethod({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer): string {
  const methods = supported ?? ['client_secret_basic'];
  return (
    ['client_secret_post', 'client_secret_basic', 'none'].find((method) => methods.includes(method)) ?? 'none'
  );
}

function isLoopback(publicUrl: string): boolean {
  const { hostname } = new URL(publicUrl);
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) || hostname.endsWith('.localhost');
}
