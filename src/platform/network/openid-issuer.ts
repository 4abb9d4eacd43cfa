/** Reads the metadata of an OpenID provider (OpenID Connect Discovery), and explains what is wrong with it. */
import { z } from 'zod';

const networkTimeoutMs = 5_000;

const discoverySchema = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

/** The message says what is wrong and what to do. */
export class IssuerError extends Error {
  override name = 'IssuerError';
}

/** The address of the issuer's signing keys. Throws `IssuerError`. */
export async function discoverIssuer(issuer: string): Promise<{ jwksUri: string }> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  let response: Response;
  try {
    response = await fetchSoon(address);
  } catch (error) {
    throw new IssuerError(`${issuer} cannot be reached: ${whyUnreachable(error)}`, { cause: error });
  }
  if (!response.ok) {
    await response.body?.cancel();
    throw new IssuerError(
      `${address} answered HTTP ${response.status}; check the address, with the path that some providers have`,
    );
  }
  const { data } = discoverySchema.safeParse(await response.json().catch(() => null));
  if (!data) throw new IssuerError(`${address} is no OpenID configuration; check the address`);
  if (data.issuer !== issuer)
    throw new IssuerError(`the provider calls itself ${data.issuer}; write exactly that`);
  return { jwksUri: data.jwks_uri };
}

/** What is wrong with the issuer; null if nothing is. */
export async function issuerProblem(issuer: string): Promise<string | null> {
  try {
    await discoverIssuer(issuer);
    return null;
  } catch (error) {
    if (error instanceof IssuerError) return error.message;
    throw error;
  }
}

export function fetchSoon(url: string, options: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...options, signal: AbortSignal.timeout(networkTimeoutMs) });
}

/** Why the issuer cannot be reached, and what to check. */
export function whyUnreachable(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `it did not answer within ${networkTimeoutMs / 1000} s; check the address, and that it runs`;
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing is listening there; check the address, and that it runs';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'its host name is not known; check the address';
    default:
      return /CERT|TLS|SSL|SELF_SIGNED|ALTNAME/.test(code)
        ? `its TLS certificate was not accepted (${code}); name your own authority in NODE_EXTRA_CA_CERTS`
        : `${code || 'no connection'}; check the address, and that it runs`;
  }
}

function codeOf(failure: unknown): string {
  for (let error = failure; error instanceof Error; error = error.cause)
    if ('code' in error && typeof error.code === 'string') return error.code;
  return '';
}
