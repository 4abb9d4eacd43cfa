/**
 * Registers us at an authorization server (RFC 7591). A registration is kept per server, sign-in server and redirect
 * address: what one server has a part in is never used for another.
 */
import { registerClient, RegistrationRejectedError } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { operatorError, storeError } from '../store-error.ts';
import type { CredentialStoreError } from '../store-error.ts';
import type { AuthorizationServer } from './authorization-server.ts';
import { clientMetadata, issuerTag, redirectUri } from './client-metadata.ts';
import { inWords } from './failure.ts';
import type { Outbound } from './outbound.ts';
import type { Records } from './records.ts';

export interface RegistrationParts {
  records: Records;
  outbound: Outbound;
  publicUrl: string;
  now: () => number;
}

export interface Where {
  serverUrl: string;
  issuer: string;
}

export const registeredSchema = z.object({
  client_id: z.string(),
  client_secret: z.string().optional(),
  client_secret_expires_at: z.number().optional(),
  token_endpoint_auth_method: z.string().optional(),
});
type Registration = z.infer<typeof registeredSchema>;

const recordSchema = z.object({
  registration: registeredSchema,
  /** When somebody was first sent there since the last one came back; null when nobody is on the way. */
  awayFrom: z.number().nullable(),
});

/**
 * A server that lost a registration shows its own error page and sends nobody back. So when nobody has come
 * back for this long, the next person is sent as a new client.
 */
const suspiciousAfterMs = 120_000;

/** A secret that ends sooner than this is not used any more. */
const leastSecretLifeMs = 60_000;

/** The registration that is kept, or a new one. */
export async function registrationFor(
  parts: RegistrationParts,
  server: ServerConfig,
  authorizationServer: AuthorizationServer,
): Promise<Registration> {
  const { records, now } = parts;
  const key = recordKey(parts, { serverUrl: server.url, issuer: authorizationServer.issuer });
  const known = (await records.recall(key, recordSchema))?.value;
  if (known && !isSpent(known.registration, now()) && !isSuspicious(known.awayFrom, now())) {
    if (known.awayFrom === null) await records.remember(key, { ...known, awayFrom: now() });
    return known.registration;
  }
  const registration = await register(parts, server, authorizationServer);
  await records.remember(key, { registration, awayFrom: now() });
  return registration;
}

export async function confirmRegistration(
  parts: RegistrationParts,
  registration: Registration,
  where: Where,
): Promise<void> {
  if (!(await isKept(parts, registration, where))) return;
  await parts.records.remember(recordKey(parts, where), { registration, awayFrom: null });
}

export async function forgetRegistration(
  parts: RegistrationParts,
  registration: Registration,
  where: Where,
): Promise<void> {
  if (await isKept(parts, registration, where)) await parts.records.forget(recordKey(parts, where));
}

/** Where we are not registered by request, an operator has to do it. */
export function operatorHasToRegister(
  { publicUrl }: RegistrationParts,
  server: ServerConfig,
  { issuer }: AuthorizationServer,
  problem: string,
): CredentialStoreError {
  return operatorError(
    server,
    `its sign-in server ${problem}, so the operator of this service has to do it`,
    `register a client there with the redirect ${redirectUri(publicUrl, issuer)} and put its id under ` +
      `oauth.clientId, and ${issuer} under oauth.issuer, of servers.${server.name} in the agents file`,
  );
}

async function register(
  parts: RegistrationParts,
  server: ServerConfig,
  authorizationServer: AuthorizationServer,
): Promise<Registration> {
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
        ? storeError(server, 'its sign-in server cannot register us now; try again later')
        : operatorHasToRegister(parts, server, authorizationServer, 'refuses to register us');
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

/** In the body rather than by HTTP Basic where there is a choice: servers disagree on how Basic is encoded. */
function authMethod({ token_endpoint_auth_methods_supported: supported }: AuthorizationServer): string {
  const methods = supported ?? ['client_secret_basic'];
  return (
    ['client_secret_post', 'client_secret_basic', 'none'].find((method) => methods.includes(method)) ?? 'none'
  );
}
