/**
 * The redirect addresses and client documents that sign-in servers get. Each sign-in server has its own (RFC 9700
 * §4.4.2.2), so an answer that arrives at an address can only come from the server that was given it, whether or not it
 * names itself in its answers.
 */
import { hash } from 'node:crypto';
import { isLoopbackHost } from '../../elicitation/url-safety.ts';

/** For accounts from when all sign-in servers shared these. They are only used to renew tokens. */
export const sharedClientPath = '/auth/client.json';
export const sharedCallbackPath = '/auth/callback';

export function redirectUri(publicUrl: string, issuer: string): string {
  return `${publicUrl}${sharedCallbackPath}/${issuerTag(issuer)}`;
}

/** The client id at sign-in servers that support client documents: the address of our document for them. */
export function clientDocumentUrl(publicUrl: string, issuer: string): string {
  return `${publicUrl}/auth/client/${issuerTag(issuer)}.json`;
}

/** `tag`: of the sign-in server; null for the document that all of them shared. */
export function clientMetadata(publicUrl: string, tag: string | null) {
  return {
    client_id: publicUrl + (tag === null ? sharedClientPath : `/auth/client/${tag}.json`),
    client_name: 'Interlude',
    client_uri: publicUrl,
    redirect_uris: [publicUrl + sharedCallbackPath + (tag === null ? '' : `/${tag}`)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: isLoopbackHost(new URL(publicUrl).hostname) ? 'native' : 'web',
  };
}

export const issuerTagPattern = /^[A-Za-z0-9_-]{22}$/;

/** A digest, so that no issuer can choose the tag of another one. */
export function issuerTag(issuer: string): string {
  return hash('sha256', plainIssuer(issuer), 'base64url').slice(0, 22);
}

/** Ignores a trailing slash. */
export function isSameIssuer(one: string, other: string): boolean {
  return plainIssuer(one) === plainIssuer(other);
}

function plainIssuer(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
