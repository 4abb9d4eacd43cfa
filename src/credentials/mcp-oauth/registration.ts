/**
 * Our client at an authorization server. In this order: one that an operator registered there, our client document, dynamic
 * registration (RFC 7591). A registration is kept per server, sign-in server and redirect address, and never shared between
 * servers.
 */
import { registerClient, RegistrationRejectedError } from '@modelcontextprotocol/client';
import type { OAuthClientInformationMixed } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import type { AuthorizationServer } from './metadata.ts';
import {
  clientDocumentUrl,
  clientMetadata,
  isSameIssuer,
  issuerTag,
  redirectUri,
} from './client-metadata.ts';
import { operatorError, storeError } from '../credential-store.ts';
import type { CredentialStoreError } from '../credential-store.ts';
import { inWords } from './failure.ts';
import type { Outbound } from './outbound.ts';
import type { Records, Client } from './records.ts';
import { registeredSchema } from './records.ts';

type Registration = z.infer<typeof registeredSchema>;

/** What to send to this issuer's token endpoint; null when the configuration no longer contains this client. */
export function clientInformation(
  { secret }: Pick<RegistrationParts, 'secret'>,
  client: Client,
  issuer: string,
  { oauth }: Pick<ServerConfig, 'oauth'>,
): OAuthClientInformationMixed | null {
  switch (client.kind) {
    case 'configured':
      return configuredClient(client.clientId, issuer, oauth, secret);
    case 'document':
      return { client_id: client.clientId };
    case 'registered':
      return client.registration;
    default:
      return client satisfies never;
  }
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

export async function clientFor(
  parts: RegistrationParts,
  authorizationServer: AuthorizationServer,
): Promise<Client> {
  const { publicUrl, server } = parts;
  const kind = clientKind(server, authorizationServer, publicUrl);
  switch (kind) {
    case 'configured':
      return { kind, clientId: server.oauth?.clientId ?? '' };
    case 'document':
      return { kind, clientId: clientDocumentUrl(publicUrl, authorizationServer.issuer) };
    case 'registered':
      return { kind, registration: await registrationFor(parts, authorizationServer) };
    case 'none':
      throw operatorHasToRegister(parts, authorizationServer, 'no_registration');
    default:
      return kind satisfies never;
  }
}

/** A configured client is only used at the sign-in server that it was configured for, as is its secret. */
function configuredClient(
  clientId: string,
  issuer: string,
  oauth: ServerConfig['oauth'],
  secret: RegistrationParts['secret'],
): OAuthClientInformationMixed | null {
  const isThere = oauth?.issuer !== undefined && isSameIssuer(oauth.issuer, issuer);
  if (oauth?.clientId !== clientId || !isThere) return null;
  const name = oauth.clientSecretEnv;
  const clientSecret = name === undefined ? undefined : secret(name);
  return { client_id: clientId, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
}

export interface RegistrationParts {
  server: ServerConfig;
  records: Records;
  outbound: Outbound;
  publicUrl: string;
  /** Reads a client secret that the agents file names. */
  secret: (name: string) => string | undefined;
  now: () => number;
}

interface Where {
  serverUrl: string;
  issuer: string;
}

const recordSchema = z.object({
  registration: registeredSchema,
  /** When a person was first sent there since the last one came back; null when none is there. */
  awayFrom: z.number().nullable(),
});

/**
 * A sign-in server that has lost our registration shows its own error page, and the person does not come back. So after
 * this time without a return, the next person is sent as a new client.
 */
const suspiciousAfterMs = 120_000;

/** A secret that expires sooner is not used any more. */
const leastSecretLifeMs = 60_000;

/** The stored registration, or a new one. */
async function registrationFor(
  parts: RegistrationParts,
  authorizationServer: AuthorizationServer,
): Promise<Registration> {
  const { records, now, server } = parts;
  const key = recordKey(parts, { serverUrl: server.url, issuer: authorizationServer.issuer });
  const known = (await records.recall(key, recordSchema))?.value;
  if (known && !isSpent(known.registration, now()) && !isSuspicious(known.awayFrom, now())) {
    if (known.awayFrom === null) await records.remember(key, { ...known, awayFrom: now() });
    return known.registration;
  }
  const registration = await register(parts, authorizationServer);
  await records.remember(key, { registration, awayFrom: now() });
  return registration;
}

/** To be called when a person has come back as this client, so the sign-in server knows it. */
export async function confirmClient(parts: RegistrationParts, client: Client, where: Where): Promise<void> {
  if (client.kind !== 'registered') return;
  const { registration } = client;
  if (!(await isKept(parts, registration, where))) return;
  await parts.records.remember(recordKey(parts, where), { registration, awayFrom: null });
}

/** To be called when the sign-in server no longer knows this client. The next sign-in registers a new one. */
export async function forgetClient(parts: RegistrationParts, client: Client, where: Where): Promise<void> {
  if (client.kind === 'registered' && (await isKept(parts, client.registration, where)))
    await parts.records.forget(recordKey(parts, where));
}

function operatorHasToRegister(
  { publicUrl, server }: RegistrationParts,
  { issuer }: AuthorizationServer,
  code: 'no_registration' | 'registration_refused',
): CredentialStoreError {
  return operatorError(
    server,
    code,
    `register a client there with the redirect ${redirectUri(publicUrl, issuer)} and put its id under ` +
      `oauth.clientId, and ${issuer} under oauth.issuer, of servers.${server.name} in the agents file`,
  );
}

async function register(
  parts: RegistrationParts,
  authorizationServer: AuthorizationServer,
): Promise<Registration> {
  const { server } = parts;
  const { issuer } = authorizationServer;
  const { client_id: _, ...metadata } = clientMetadata(parts.publicUrl, issuerTag(issuer));
  try {
    const answer = await registerClient(issuer, {
      metadata: authorizationServer,
      clientMetadata: { ...metadata, token_endpoint_auth_method: authMethod(authorizationServer) },
      fetchFn: parts.outbound.of(server).fetch,
    });
    return registeredSchema.parse(answer);
  } catch (error) {
    if (error instanceof RegistrationRejectedError) {
      const isOverloaded = error.status >= 500 || error.status === 429;
      throw isOverloaded
        ? storeError(server, 'registration_away')
        : operatorHasToRegister(parts, authorizationServer, 'registration_refused');
    }
    throw inWords(server, error);
  }
}

async function isKept(parts: RegistrationParts, registration: Registration, where: Where): Promise<boolean> {
  const known = (await parts.records.recall(recordKey(parts, where), recordSchema))?.value;
  return known?.registration.client_id === registration.client_id;
}

function recordKey({ publicUrl }: RegistrationParts, { serverUrl, issuer }: Where): string {
  return `client:${serverUrl} ${issuer} ${redirectUri(publicUrl, issuer)}`;
}

function isSpent({ client_secret_expires_at: end }: Registration, now: number): boolean {
  return Boolean(end && end * 1000 <= now + leastSecretLifeMs);
}

function isSuspicious(awayFrom: number | null, now: number): boolean {
  return awayFrom !== null && now - awayFrom > suspiciousAfterMs;
}

/** In the body rather than by HTTP Basic, because servers disagree on how Basic is encoded. */
function authMethod({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer): string {
  const methods = supported ?? ['client_secret_basic'];
  return (
    ['client_secret_post', 'client_secret_basic', 'none'].find((method) => methods.includes(method)) ?? 'none'
  );
}
