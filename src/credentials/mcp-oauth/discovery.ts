/** What a server needs before it lets anybody in, found once a day and kept. */
import { discoverAuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { readChallenge } from '../oauth/challenge.ts';
import { scopesOf } from '../oauth/scopes.ts';
import { storeError } from '../store-error.ts';
import type { ErrorSubject } from '../store-error.ts';
import { isSameIssuer } from './client-metadata.ts';
import { OutboundError } from './outbound.ts';
import type { Outbound } from './outbound.ts';
import { challengedResource, probe, publishedResource } from './protected-resource.ts';
import type { ProtectedResource } from './protected-resource.ts';
import type { Records } from './records.ts';
import { inWords } from './failure.ts';
import { IssuerNotAgreed } from './trusted-issuers.ts';
import type { TrustedIssuers } from './trusted-issuers.ts';

const httpUrl = z.url({ protocol: /^https?$/ });

/** The part of an authorization server's metadata (RFC 8414, OpenID Connect Discovery) that is used here. */
export const authorizationServerSchema = z.object({
  issuer: z.string(),
  authorization_endpoint: httpUrl,
  token_endpoint: httpUrl,
  registration_endpoint: httpUrl.optional(),
  revocation_endpoint: httpUrl.optional(),
  response_types_supported: z.array(z.string()),
  scopes_supported: z.array(z.string()).optional(),
  token_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  revocation_endpoint_auth_methods_supported: z.array(z.string()).optional(),
  code_challenge_methods_supported: z.array(z.string()).optional(),
  client_id_metadata_document_supported: z.boolean().optional(),
  authorization_response_iss_parameter_supported: z.boolean().optional(),
  require_pushed_authorization_requests: z.boolean().optional(),
});
export type AuthorizationServer = z.infer<typeof authorizationServerSchema>;

function endpointsOf(server: AuthorizationServer): string[] {
  const { authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint } = server;
  return [authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint].filter(
    (endpoint) => endpoint !== undefined,
  );
}

const needsSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('nothing') }),
  z.object({
    kind: z.literal('oauth'),
    /** As the server spells it: authorization servers compare it as text. */
    resource: z.string(),
    scopes: z.array(z.string()),
    authorizationServer: authorizationServerSchema,
  }),
]);
export type Needs = z.infer<typeof needsSchema>;
export type OAuthNeeds = Extract<Needs, { kind: 'oauth' }>;

export interface Discovery {
  /** Throws `CredentialStoreError` when it cannot be found out now. */
  needsOf(server: ServerConfig): Promise<Needs>;
  /** After a 401 that was not expected: looks again, and believes the challenge. */
  needsAfterRefusal(server: ServerConfig, challenge: string | null): Promise<OAuthNeeds>;
  /**
   * The description of this issuer, from which somebody has an account of this server. Null when the server has moved
   * to another one; while the operator has not agreed to that, the account stays where it is.
   */
  currentIssuer(server: ServerConfig, issuer: string): Promise<AuthorizationServer | null>;
  /** What this authorization server says about itself right now, whatever the MCP server names today. */
  describe(server: ErrorSubject, issuer: string): Promise<AuthorizationServer>;
  /** The next look is a fresh one. */
  forget(server: ServerConfig): Promise<void>;
}

function isAsWritten({ oauth }: ServerConfig, needs: Needs): boolean {
  if (oauth?.issuer === undefined) return true;
  return needs.kind === 'oauth' && isSameIssuer(needs.authorizationServer.issuer, oauth.issuer);
}

const cacheLifeMs = 24 * 3_600_000;

export function createDiscovery(deps: {
  records: Records;
  outbound: Outbound;
  trustedIssuers: TrustedIssuers;
  now: () => number;
}): Discovery {
  const { records, outbound, trustedIssuers, now } = deps;
  const recordKey = (server: ServerConfig) => `server:${server.url}`;

  async function look(server: ServerConfig): Promise<{ needs: Needs; certain: boolean }> {
    const published = await publishedResource(server, outbound);
    if (published) {
      const needs = await oauthNeeds(server, published);
      const scopes = needs.scopes.length > 0 ? needs.scopes : await challengedScopes(server);
      return { needs: { ...needs, scopes }, certain: true };
    }
    const answer = await probe(server, outbound);
    if (answer.kind !== 'challenged') return { needs: { kind: 'nothing' }, certain: answer.kind === 'open' };
    const challenged = await challengedResource(server, answer.challenge, outbound);
    return { needs: await oauthNeeds(server, challenged), certain: true };
  }

  /** For a server that publishes none: or else people would be asked twice, the second time for what its 403 names. */
  async function challengedScopes(server: ServerConfig): Promise<string[]> {
    const answer = await probe(server, outbound).catch(() => null);
    return answer?.kind === 'challenged' ? scopesOf(readChallenge(answer.challenge).scope) : [];
  }

  async function oauthNeeds(
    server: ServerConfig,
    { resource, issuers, scopes }: ProtectedResource,
  ): Promise<OAuthNeeds> {
    // Servers from before protected-resource metadata are their own authorization server.
    const named = issuers.length > 0 ? issuers : [server.oauth?.issuer ?? new URL(server.url).origin];
    const candidates = await trustedIssuers.among(server, named);
    let failure: unknown;
    for (const issuer of candidates.slice(0, 3)) {
      try {
        const authorizationServer = await readMetadata(server, issuer);
        await trustedIssuers.admit(server, authorizationServer.issuer);
        return { kind: 'oauth', resource, scopes, authorizationServer };
      } catch (error) {
        if (error instanceof IssuerNotAgreed) throw error;
        failure = error;
      }
    }
    throw failure;
  }

  async function readMetadata(server: ErrorSubject, issuer: string): Promise<AuthorizationServer> {
    const asked = outbound.of(server);
    asked.check(issuer);
    const metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: asked.fetch });
    const parsed = authorizationServerSchema.safeParse(metadata);
    if (!parsed.success)
      throw storeError(server, 'its sign-in server publishes no usable description; tell its operator');
    if (!parsed.data.code_challenge_methods_supported?.includes('S256')) {
      throw storeError(server, 'its sign-in server does not offer PKCE with S256, which is required');
    }
    if (parsed.data.require_pushed_authorization_requests === true) {
      throw storeError(
        server,
        'its sign-in server wants pushed authorization requests, which are not made here',
      );
    }
    for (const endpoint of endpointsOf(parsed.data)) asked.check(endpoint);
    return parsed.data;
  }

  async function needsOf(server: ServerConfig): Promise<Needs> {
    const key = recordKey(server);
    const known = await records.recall(key, needsSchema);
    // An operator may have decided otherwise since.
    const isUsable = known && isAsWritten(server, known.value);
    if (isUsable && now() - known.updatedAt < cacheLifeMs) return admitted(server, known.value);
    try {
      const { needs, certain } = await look(server);
      if (certain) await records.remember(key, needs);
      return needs;
    } catch (error) {
      // What held yesterday is a better guess than failing while the server is away.
      if (isUsable && error instanceof OutboundError) return admitted(server, known.value);
      throw inWords(server, error);
    }
  }

  async function admitted(server: ServerConfig, needs: Needs): Promise<Needs> {
    if (needs.kind === 'oauth') await trustedIssuers.admit(server, needs.authorizationServer.issuer);
    return needs;
  }

  return {
    needsOf,
    async currentIssuer(server, issuer) {
      try {
        const needs = await needsOf(server);
        const isSame = needs.kind === 'oauth' && needs.authorizationServer.issuer === issuer;
        return isSame ? needs.authorizationServer : null;
      } catch (error) {
        if (!(error instanceof IssuerNotAgreed)) throw error;
        return readMetadata(server, issuer);
      }
    },
    async needsAfterRefusal(server, challenge) {
      try {
        const published = await publishedResource(server, outbound);
        const resource = published ?? (await challengedResource(server, challenge, outbound));
        const needs = await oauthNeeds(server, resource);
        await records.remember(recordKey(server), needs);
        return needs;
      } catch (error) {
        throw inWords(server, error);
      }
    },
    describe: readMetadata,
    forget: (server) => records.forget(recordKey(server)),
  };
}
