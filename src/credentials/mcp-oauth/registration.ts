/**
 * Who we are at an authorization server. In this order: a client that an operator registered there, our own
 * metadata document as client id, dynamic registration.
 */
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { clientDocumentUrl, isSameIssuer } from './client-metadata.ts';
import {
  confirmRegistration,
  forgetRegistration,
  operatorHasToRegister,
  registeredSchema,
  registrationFor,
} from './dynamic-registration.ts';
import type { RegistrationParts, Where } from './dynamic-registration.ts';

/** Which client an attempt or a connection belongs to. A configured secret stays in the configuration. */
export const clientSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('configured'), clientId: z.string() }),
  z.object({ kind: z.literal('document'), clientId: z.string() }),
  z.object({ kind: z.literal('registered'), registration: registeredSchema }),
]);
type Client = z.infer<typeof clientSchema>;

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

interface Parts extends RegistrationParts {
  secret: (name: string) => string | undefined;
}

export function createRegistrations(parts: Parts): Registrations {
  return {
    clientFor: (server, authorizationServer) => clientFor(parts, server, authorizationServer),
    informationOf: (client, issuer, { oauth }) => {
      switch (client.kind) {
        case 'configured':
          return configuredClient(client.clientId, issuer, oauth, parts.secret);
        case 'document':
          return { client_id: client.clientId };
        case 'registered':
          return client.registration;
        default:
          return client satisfies never;
      }
    },
    async confirm(client, where) {
      if (client.kind === 'registered') await confirmRegistration(parts, client.registration, where);
    },
    async forget(client, where) {
      if (client.kind === 'registered') await forgetRegistration(parts, client.registration, where);
    },
  };
}

/** How we become a client of this authorization server; `none`: only its operator can register us. */
export function clientKind(
  { oauth }: Pick<ServerConfig, 'oauth'>,
  authorizationServer: AuthorizationServer,
  publicUrl: string,
): Client['kind'] | 'none' {
  if (oauth?.clientId !== undefined) return 'configured';
  if (authorizationServer.client_id_metadata_document_supported && publicUrl.startsWith('https:'))
    return 'document';
  return authorizationServer.registration_endpoint ? 'registered' : 'none';
}

async function clientFor(
  parts: Parts,
  server: ServerConfig,
  authorizationServer: AuthorizationServer,
): Promise<Client> {
  const { publicUrl } = parts;
  const kind = clientKind(server, authorizationServer, publicUrl);
  switch (kind) {
    case 'configured':
      return { kind, clientId: server.oauth?.clientId ?? '' };
    case 'document':
      return { kind, clientId: clientDocumentUrl(publicUrl, authorizationServer.issuer) };
    case 'registered':
      return { kind, registration: await registrationFor(parts, server, authorizationServer) };
    case 'none':
      throw operatorHasToRegister(parts, server, authorizationServer, 'does not let us register ourselves');
    default:
      return kind satisfies never;
  }
}

/** It is a client of the sign-in server it was written for, and its secret goes nowhere else. */
function configuredClient(
  clientId: string,
  issuer: string,
  oauth: ServerConfig['oauth'],
  secret: Parts['secret'],
): OAuthClientInformationMixed | null {
  const isThere = oauth?.issuer !== undefined && isSameIssuer(oauth.issuer, issuer);
  if (oauth?.clientId !== clientId || !isThere) return null;
  const name = oauth.clientSecretEnv;
  const clientSecret = name === undefined ? undefined : secret(name);
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}
