/**
 * Finds the sign-in server (OpenID issuer) of a service by its protected resource metadata (RFC 9728), and the
 * program's OAuth client there.
 */
import * as openid from 'openid-client';
import { z } from 'zod';
import { requireSafe } from '@interlude-ai/kit/terminal/loopback.ts';
import { readableFetch } from '@interlude-ai/core/oauth/documents.ts';

const MetadataSchema = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()).min(1),
  interlude_client_id: z.string().optional(),
  interlude_scope: z.string().optional(),
});

export interface SignInService {
  service: string;
  issuer: string;
  /** Absent: the program registers itself (RFC 7591). */
  clientId: string | undefined;
  scope: string | undefined;
}

export interface ProgramAt {
  at: openid.Configuration;
  clientId: string;
}

const timeoutMs = 10_000;

const usualScope = ['openid', 'profile', 'offline_access'];

/** Without a trailing slash. Throws for plain http to another machine: tokens are sent to this address. */
export function serviceAddress(given: string): string {
  const { origin, pathname } = new URL(given);
  requireSafe(given);
  let end = pathname.length;
  while (pathname[end - 1] === '/') end--;
  return origin + pathname.slice(0, end);
}

export async function findSignIn(service: string): Promise<SignInService> {
  const address = `${service}/.well-known/oauth-protected-resource`;
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs), redirect: 'error' }).catch(
    (cause: unknown) => {
      throw new Error(
        `Interlude does not answer at ${service}. Check the address, and that it runs (on your own machine, in its folder: npx interlude start).`,
        { cause },
      );
    },
  );
  const { data } = MetadataSchema.safeParse(await response.json().catch(() => null));
  const issuer = data?.authorization_servers[0];
  if (!data || issuer === undefined)
    throw new Error(`${service} does not say where to sign in; is it an Interlude service?`);
  // RFC 9728 §3.3: otherwise another service could name this one's address and get tokens for it.
  if (data.resource !== service)
    throw new Error(`The service at ${service} calls itself ${data.resource}; use that address.`);
  requireSafe(issuer);
  return { service, issuer, clientId: data.interlude_client_id, scope: data.interlude_scope };
}

/** `redirectUri`: where the program listens, if it does; for a registration. */
export async function programAt(
  { issuer, clientId }: SignInService,
  redirectUri?: string,
): Promise<ProgramAt> {
  const options = {
    timeout: timeoutMs / 1_000,
    [openid.customFetch]: readableFetch,
    ...(issuer.startsWith('http:') && { execute: [openid.allowInsecureRequests] }),
  };
  if (clientId !== undefined) {
    const at = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), options);
    return { at, clientId };
  }
  const redirectUris = redirectUri === undefined ? [] : [redirectUri];
  const metadata = {
    client_name: 'Interlude',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: redirectUris,
    response_types: redirectUri === undefined ? [] : ['code'],
    grant_types: [redirectUri === undefined ? deviceGrant : 'authorization_code', 'refresh_token'],
  };
  try {
    const at = await openid.dynamicClientRegistration(new URL(issuer), metadata, openid.None(), options);
    return { at, clientId: at.clientMetadata().client_id };
  } catch (cause) {
    throw new Error(
      `${issuer} does not let programs register themselves. The operator of the service has to set AUTH_PROGRAM_CLIENT_ID.`,
      { cause },
    );
  }
}

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** The same in the browser flow and in the device flow. */
export function authorizationParameters(
  { service, scope }: SignInService,
  { at }: ProgramAt,
): { scope: string; resource: string } {
  const offered = at.serverMetadata().scopes_supported;
  const usual = usualScope.filter((name) => offered?.includes(name) ?? true);
  return { scope: scope ?? usual.join(' '), resource: service };
}
