/** Failures in words that are safe to show: who, what happened, what to do. Never what a peer wrote. */
import { InsecureTokenEndpointError, IssuerMismatchError, OAuthError } from '@modelcontextprotocol/client';
import { CredentialStoreError, storeError } from '../store-error.ts';
import type { ErrorSubject } from '../store-error.ts';
import { OutboundError } from './outbound.ts';

/** An error of the libraries, of a peer or of the network, as ours. */
export function inWords(server: ErrorSubject, error: unknown): CredentialStoreError {
  if (error instanceof CredentialStoreError) return error;
  if (error instanceof OutboundError) return outboundError(server, error);
  if (error instanceof IssuerMismatchError) {
    return storeError(
      server,
      'its sign-in server names itself differently from what was expected, so it is not trusted',
    );
  }
  if (error instanceof InsecureTokenEndpointError) return storeError(server, withoutHttps);
  if (error instanceof OAuthError)
    return storeError(server, `its sign-in server refused with ${quoteCode(error.code)}`);
  return storeError(server, noUsableAnswer, 'its sign-in server answered with something unexpected');
}

const withoutHttps = 'has a sign-in server that is not reached by https, so it is not used';
/** The same words whatever happened, so that nobody learns from them who listens at the addresses a server names. */
export const noUsableAnswer =
  'its sign-in server cannot be reached or gives no usable answer; try again later';

function outboundError(server: ErrorSubject, error: OutboundError): CredentialStoreError {
  const { failure, host, happened, message } = error;
  if (failure === 'plain-http') return storeError(server, withoutHttps, message);
  if (failure === 'not-public') {
    const remedy = 'write local: true for this server in the agents file if that is in your own network';
    return storeError(server, noUsableAnswer, `${message}, so it was not asked; ${remedy}`);
  }
  const isOwn = host === new URL(server.url).host;
  return isOwn
    ? storeError(server, `${happened}; try again later`)
    : storeError(server, noUsableAnswer, message);
}

/** Codes of the OAuth registries are short words of these characters; anything else is not repeated. */
export function quoteCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? `"${code}"` : 'an error';
}

const finalCodes = [
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
  'invalid_request',
  'access_denied',
];

/** The sign-in server answered, and the answer is no. Whatever else went wrong may be better next time. */
export function isRefusal(error: unknown): boolean {
  return error instanceof OAuthError && finalCodes.includes(error.code);
}

/** The sign-in server is there or will be again, and cannot answer right now. */
export function isOutage(error: unknown): boolean {
  if (error instanceof OutboundError) return ['unreachable', 'timeout'].includes(error.failure);
  return error instanceof OAuthError && ['server_error', 'temporarily_unavailable'].includes(error.code);
}

/** The client is not known (any more) at the sign-in server, whoever the user is. */
export function isClientRefused(error: unknown): boolean {
  return error instanceof OAuthError && ['invalid_client', 'unauthorized_client'].includes(error.code);
}
