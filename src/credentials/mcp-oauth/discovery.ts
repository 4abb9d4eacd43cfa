/** What a server needs before it lets anybody in, found once a day and kept. */
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { readChallenge } from '../oauth/challenge.ts';
import { scopesOf } from '../oauth/scopes.ts';
import type { CredentialStoreError } from '../store-error.ts';
import { authorizationServerSchema, readAuthorizationServer } from './authorization-server.ts';
import type { AuthorizationServer, Described } from './authorization-server.ts';
import { isSameIssuer } from './client-metadata.ts';
import { inWords } from './failure.ts';
import type { Broken } from './locations.ts';
import { OutboundError } from './outbound-error.ts';
import type { Outbound } from './outbound.ts';
import { challengedResource, probe, publishedResource } from './protected-resource.ts';
import type { ProtectedResource } from './protected-resource.ts';
import type { Records } from './records.ts';
import { IssuerNotAgreed } from './trusted-issuers.ts';
import type { TrustedIssuers } from './trusted-issuers.ts';

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
  describe(server: Described, issuer: string): Promise<AuthorizationServer>;
  /** The next look is a fresh one. */
  forget(server: ServerConfig): Promise<void>;
}

interface Parts {
  records: Records;
  outbound: Outbound;
  trustedIssuers: TrustedIssuers;
  now: () => number;
  /** Documents that were passed over. */
  onBroken?(server: ServerConfig, broken: Broken): void;
}

const cacheLifeMs = 24 * 3_600_000;

/** Of the authorization servers that a server names, so many are tried. */
const maxIssuersTried = 3;

export function createDiscovery(parts: Parts): Discovery {
  return {
    needsOf: (server) => needsOf(parts, server),
    needsAfterRefusal: (server, challenge) => needsAfterRefusal(parts, server, challenge),
    currentIssuer: (server, issuer) => currentIssuer(parts, server, issuer),
    describe: (server, issuer) => readAuthorizationServer(parts.outbound, server, issuer),
    forget: (server) => parts.records.forget(recordKey(server)),
  };
}

async function needsOf(parts: Parts, server: ServerConfig): Promise<Needs> {
  const key = recordKey(server);
  const known = await parts.records.recall(key, needsSchema);
  // An operator may have decided otherwise since.
  const isUsable = known && isAsWritten(server, known.value);
  if (isUsable && parts.now() - known.updatedAt < cacheLifeMs) return admitted(parts, server, known.value);
  const broken: Broken = [];
  try {
    const { needs, isCertain } = await findNeeds(parts, server, broken);
    if (broken.length > 0) parts.onBroken?.(server, broken);
    // What held yesterday counts more than what is left while its documents are broken.
    if (isUsable && broken.length > 0) return await admitted(parts, server, known.value);
    if (isCertain) await parts.records.remember(key, needs);
    return needs;
  } catch (error) {
    // What held yesterday is a better guess than failing while the server is away.
    if (isUsable && error instanceof OutboundError) return admitted(parts, server, known.value);
    throw withBroken(inWords(server, error), broken);
  }
}

async function needsAfterRefusal(
  parts: Parts,
  server: ServerConfig,
  challenge: string | null,
): Promise<OAuthNeeds> {
  const broken: Broken = [];
  try {
    const published = await publishedResource(server, parts.outbound, broken);
    const resource = published ?? (await challengedResource(server, challenge, parts.outbound));
    const needs = await oauthNeeds(parts, server, resource, broken);
    if (broken.length === 0) await parts.records.remember(recordKey(server), needs);
    return needs;
  } catch (error) {
    throw withBroken(inWords(server, error), broken);
  }
}

async function currentIssuer(
  parts: Parts,
  server: ServerConfig,
  issuer: string,
): Promise<AuthorizationServer | null> {
  try {
    const needs = await needsOf(parts, server);
    const isSame = needs.kind === 'oauth' && isSameIssuer(needs.authorizationServer.issuer, issuer);
    return isSame ? needs.authorizationServer : null;
  } catch (error) {
    if (!(error instanceof IssuerNotAgreed)) throw error;
    return readAuthorizationServer(parts.outbound, server, issuer);
  }
}

/** Asks the server. `isCertain`: it will say the same tomorrow. */
async function findNeeds(
  parts: Parts,
  server: ServerConfig,
  broken: Broken,
): Promise<{ needs: Needs; isCertain: boolean }> {
  const { outbound } = parts;
  const published = await publishedResource(server, outbound, broken);
  if (published) {
    const needs = await oauthNeeds(parts, server, published, broken);
    const scopes = needs.scopes.length > 0 ? needs.scopes : await challengedScopes(parts, server);
    return { needs: { ...needs, scopes }, isCertain: true };
  }
  const answer = await probe(server, outbound);
  // It may publish tomorrow what it failed to publish today.
  const isCertain = broken.length === 0;
  if (answer.kind !== 'challenged')
    return { needs: { kind: 'nothing' }, isCertain: isCertain && answer.kind === 'open' };
  const challenged = await challengedResource(server, answer.challenge, outbound);
  return { needs: await oauthNeeds(parts, server, challenged, broken), isCertain };
}

/** The operator reads which documents could not be used before it failed. */
function withBroken(error: CredentialStoreError, broken: Broken): CredentialStoreError {
  if (broken.length > 0)
    error.detail = [...broken, ...(error.detail === undefined ? [] : [error.detail])].join('; ');
  return error;
}

/** For a server that publishes none: or else people would be asked twice, the second time for what its 403 names. */
async function challengedScopes({ outbound }: Parts, server: ServerConfig): Promise<string[]> {
  const answer = await probe(server, outbound).catch(() => null);
  return answer?.kind === 'challenged' ? scopesOf(readChallenge(answer.challenge).scope) : [];
}

async function oauthNeeds(
  { outbound, trustedIssuers }: Parts,
  server: ServerConfig,
  { resource, issuers, scopes }: ProtectedResource,
  broken: Broken,
): Promise<OAuthNeeds> {
  // Servers from before protected-resource metadata are their own authorization server.
  const named = issuers.length > 0 ? issuers : [server.oauth?.issuer ?? new URL(server.url).origin];
  const candidates = await trustedIssuers.among(server, named);
  let failure: unknown;
  for (const issuer of candidates.slice(0, maxIssuersTried)) {
    try {
      const authorizationServer = await readAuthorizationServer(outbound, server, issuer, broken);
      await trustedIssuers.admit(server, authorizationServer.issuer);
      return { kind: 'oauth', resource, scopes, authorizationServer };
    } catch (error) {
      if (error instanceof IssuerNotAgreed) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function admitted({ trustedIssuers }: Parts, server: ServerConfig, needs: Needs): Promise<Needs> {
  if (needs.kind === 'oauth') await trustedIssuers.admit(server, needs.authorizationServer.issuer);
  return needs;
}

function isAsWritten({ oauth }: ServerConfig, needs: Needs): boolean {
  if (oauth?.issuer === undefined) return true;
  return needs.kind === 'oauth' && isSameIssuer(needs.authorizationServer.issuer, oauth.issuer);
}

function recordKey(server: ServerConfig): string {
  return `server:${server.url}`;
}
