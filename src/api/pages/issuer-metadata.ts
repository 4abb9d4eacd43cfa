/** What an OpenID issuer says of itself: fetched for the first sign-in and kept. After a failure the next one fetches it again. */
import * as openid from 'openid-client';
import { rewriting, withoutOddities } from '../../network/oauth-documents.ts';

const timeoutSeconds = 10;

/** `openid-client` refuses a whole response for a member that is null. */
const readableFetch = rewriting(withoutOddities, (url: string, options: openid.CustomFetchOptions) =>
  fetch(url, options as RequestInit),
);

export function createIssuerMetadata(
  issuer: URL,
  clientId: string,
  authentication: openid.ClientAuth,
): () => Promise<openid.Configuration> {
  let discovered: Promise<openid.Configuration> | undefined;
  return async () => {
    discovered ??= openid.discovery(issuer, clientId, undefined, authentication, {
      timeout: timeoutSeconds,
      [openid.customFetch]: readableFetch,
      ...(issuer.protocol === 'http:' && { execute: [openid.allowInsecureRequests] }),
    });
    try {
      return await discovered;
    } catch (error) {
      discovered = undefined;
      throw error;
    }
  };
}
