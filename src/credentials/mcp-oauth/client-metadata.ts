/**
 * Where sign-in servers send people back to, and what they read about us. Each has an address and a document of its
 * own (RFC 9700 §4.4.2.2): what comes back at an address can only come from the server it was given to, whether or not
 * that server names itself in its answers.
 */
import { hash } from 'node:crypto';
import { isLoopbackHost } from '../../elicitation/url-safety.ts';

/** Of accounts that were connected when all sign-in servers shared it. Their tokens are renewed with it; nobody is sent back there. */
export const sharedClientPath = '/auth/client.json';
export const sharedCallbackPath = '/auth/callback';

export function redirectUri(publicUrl: string, issuer: string): string {
  return `${publicUrl}${sharedCallbackPath}/${issuerTag(issuer)}`;
}

/** The client id at sign-in servers that read documents: the address of ours for this one. */
export function clientDocumentUrl(publicUrl: string, issuer: string): string {
  return `${publicUrl}/auth/client/${issuerTag(issuer)}.json`;
}

/** `tag`: of the sign-in server it is for; null for the document that all of them shared. */
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

/** Not to be found for another issuer, so none can choose to share one. */
export function issuerTag(issuer: string): string {
  return hash('sha256', plainIssuer(issuer), 'base64url').slice(0, 22);
}

/** One issuer, whether or not somebody wrote a slash behind it. */
export function isSameIssuer(one: string, other: string): boolean {
  return plainIssuer(one) === plainIssuer(other);
}

function plainIssuer(issuer: string): string {
  return issuer.replace(/\/$/, '');
}
