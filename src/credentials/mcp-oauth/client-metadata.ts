/**
 * The redirect addresses and client documents that sign-in servers get. Each sign-in server has its own (RFC 9700
 * §4.4.2.2), so an answer that arrives at an address can only come from the server that was given it, whether or not it
 * names itself in its answers.
 */
import { hash } from 'node:crypto';
import { isLoopbackHost } from '@interlude-ai/core/elicitation/url-safety.ts';

export function redirectUri(publicUrl: string, issuer: string): string {
  return callbackUrl(publicUrl, issuerTag(issuer));
}

/** The client id at sign-in servers that support client documents: the address of our document for them. */
export function clientDocumentUrl(publicUrl: string, issuer: string): string {
  return `${publicUrl}/auth/client/${issuerTag(issuer)}.json`;
}

const callbackUrl = (publicUrl: string, tag: string) => `${publicUrl}/auth/callback/${tag}`;

/** `tag`: of the sign-in server. */
export function clientMetadata(publicUrl: string, tag: string) {
  return {
    client_id: `${publicUrl}/auth/client/${tag}.json`,
    client_name: 'Interlude',
    client_uri: publicUrl,
    redirect_uris: [callbackUrl(publicUrl, tag)],
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
