/** What we are to sign-in servers: the documents that they read about us, and where they send people back to. */
import type { Config } from '../config/config.ts';
import {
  clientMetadata,
  issuerTagPattern,
  redirectUri,
  sharedCallbackPath,
  sharedClientPath,
} from '../credentials/mcp-oauth/client-metadata.ts';

export interface OAuthClient {
  /** Where every one of them used to send people, and below which each has an address of its own. */
  callbackPath: string;
  /** Where the document that all of them shared is read. */
  documentPath: string;
  /** `tag`: of the sign-in server it is for; null for the shared one. Null when there is no such document. */
  document(tag: string | null): object | null;
  /** What operators have to write by hand at sign-in servers that read no documents. */
  registrations(): { server: string; issuer: string; clientId: string | undefined; redirectUri: string }[];
}

export function createOAuthClient({ http, servers }: Pick<Config, 'http' | 'servers'>): OAuthClient {
  const { publicUrl } = http;
  return {
    callbackPath: sharedCallbackPath,
    documentPath: sharedClientPath,
    document: (tag) => (tag === null || issuerTagPattern.test(tag) ? clientMetadata(publicUrl, tag) : null),
    registrations: () =>
      [...servers.values()].flatMap(({ name: server, oauth }) => {
        if (oauth?.issuer === undefined) return [];
        const { issuer, clientId } = oauth;
        return [{ server, issuer, clientId, redirectUri: redirectUri(publicUrl, issuer) }];
      }),
  };
}
