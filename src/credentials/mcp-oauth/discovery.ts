/** Which account a server needs, found out once a day and stored. */
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import { readChallenge, scopesOf } from '@interlude-ai/core/oauth/scopes.ts';
import type { CredentialStoreError } from '../credential-store.ts';
import {
  authorizationServerSchema,
  challengedResource,
  probe,
  publishedResource,
  readAuthorizationServer,
} from './metadata.ts';
import type { AuthorizationServer, ProtectedResource } from './metadata.ts';
import { OutboundError } from '@interlude-ai/core/oauth/locations.ts';
import type { Broken } from '@interlude-ai/core/oauth/locations.ts';
import { isSameIssuer } from './client-metadata.ts';
import { inWords } from './failure.ts';
import type { Outbound } from './outbound.ts';
import { admitIssuer, agreedIssuers, IssuerNotAgreed } from './trusted-issuers.ts';
import type { IssuerParts } from './trusted-issuers.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Attempts } from './records.ts';
import type { RegistrationParts } from './registration.ts';

/** What the functions of this folder work with. */
export interface OAuthParts extends DiscoveryParts, RegistrationParts {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  attempts: Attempts;
  disconnectWaitMs: number;
}

const needsSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('nothing') }),
  z.object({
    kind: z.literal('oauth'),
    /** Exactly as the server writes it, because authorization servers compare it as text. */
    resource: z.string(),
    scopes: z.array(z.string()),
    authorizationServer: authorizationServerSchema,
  }),
]);
export type Needs = z.infer<typeof needsSchema>;
export type OAuthNeeds = Extract<Needs, { kind: 'oauth' }>;

export interface DiscoveryParts extends IssuerParts {
  outbound: Outbound;
  now: () => number;
  /** Gets the documents that could not be used. */
  onBroken?(server: ServerConfig, broken: Broken): void;
}

const cacheLifeMs = 24 * 3_600_000;

/** How many of the authorization servers that a server names are tried. */
const maxIssuersTried = 3;

/** Throws `CredentialStoreError` when it cannot be found out now. */
export async function needsOf(parts: DiscoveryParts, server: ServerConfig): Promise<Needs> {
  const key = recordKey(server);
  const known = await parts.records.recall(key, needsSchema);
  // The operator may have changed the configuration since.
  const isUsable = known && isAsWritten(server, known.value);
  if (isUsable && parts.now() - known.updatedAt < cacheLifeMs) return admitted(parts, server, known.value);
  const broken: Broken = [];
  try {
    const { needs, isCertain } = await findNeeds(parts, server, broken);
    if (broken.length > 0) parts.onBroken?.(server, broken);
    // While some documents are broken, the stored result is better than what is left of them.
    if (isUsable && broken.length > 0) return await admitted(parts, server, known.value);
    if (isCertain) await parts.records.remember(key, needs);
    return needs;
  } catch (error) {
    // While the server is down, the stored result is better than failing.
    if (isUsable && error instanceof OutboundError) return admitted(parts, server, known.value);
    throw withBroken(inWords(server, error), broken);
  }
}

/** After an unexpected 401: asks again, and uses the challenge. */
export async function needsAfterRefusal(
  parts: DiscoveryParts,
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

/**
 * The metadata of this issuer, from which an account of this server comes. Null when the server has moved to another issuer.
 * While the operator has not agreed to that, the account stays with this one.
 */
export async function currentIssuer(
  parts: DiscoveryParts,
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

/** Asks the server. `isCertain`: the result can be stored. */
async function findNeeds(
  parts: DiscoveryParts,
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
  // It may publish the broken document later.
  const isCertain = broken.length === 0;
  if (answer.kind !== 'challenged')
    return { needs: { kind: 'nothing' }, isCertain: isCertain && answer.kind === 'open' };
  const challenged = await challengedResource(server, answer.challenge, outbound);
  return { needs: await oauthNeeds(parts, server, challenged, broken), isCertain };
}

/** Adds the documents that could not be used, for the operator. */
function withBroken(error: CredentialStoreError, broken: Broken): CredentialStoreError {
  if (broken.length > 0)
    error.detail = [...broken, ...(error.detail === undefined ? [] : [error.detail])].join('; ');
  return error;
}

/**
 * For a server that publishes no scopes. Without them, people would be asked twice, the second time for those of its 403.
 */
async function challengedScopes({ outbound }: DiscoveryParts, server: ServerConfig): Promise<string[]> {
  const answer = await probe(server, outbound).catch(() => null);
  return answer?.kind === 'challenged' ? scopesOf(readChallenge(answer.challenge).scope) : [];
}

async function oauthNeeds(
  parts: DiscoveryParts,
  server: ServerConfig,
  { resource, issuers, scopes }: ProtectedResource,
  broken: Broken,
): Promise<OAuthNeeds> {
  // Servers without protected-resource metadata are their own authorization server.
  const named = issuers.length > 0 ? issuers : [server.oauth?.issuer ?? new URL(server.url).origin];
  const candidates = await agreedIssuers(parts, server, named);
  let failure: unknown;
  for (const issuer of candidates.slice(0, maxIssuersTried)) {
    try {
      const authorizationServer = await readAuthorizationServer(parts.outbound, server, issuer, broken);
      await admitIssuer(parts, server, authorizationServer.issuer);
      return { kind: 'oauth', resource, scopes, authorizationServer };
    } catch (error) {
      if (error instanceof IssuerNotAgreed) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function admitted(parts: DiscoveryParts, server: ServerConfig, needs: Needs): Promise<Needs> {
  if (needs.kind === 'oauth') await admitIssuer(parts, server, needs.authorizationServer.issuer);
  return needs;
}

function isAsWritten({ oauth }: ServerConfig, needs: Needs): boolean {
  if (oauth?.issuer === undefined) return true;
  return needs.kind === 'oauth' && isSameIssuer(needs.authorizationServer.issuer, oauth.issuer);
}

/** The next look asks the server again. */
export async function forgetNeeds({ records }: DiscoveryParts, server: ServerConfig): Promise<void> {
  await records.forget(recordKey(server));
}

function recordKey(server: ServerConfig): string {
  return `server:${server.url}`;
}
