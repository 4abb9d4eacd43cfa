/** Which account a server needs, found out once a day and stored. */
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import { readChallenge, scopesOf } from '@interlude-ai/core/oauth/scopes.ts';
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
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import type { Attempts, Records } from './records.ts';
import type { RegistrationParts } from './registration.ts';
import { CredentialStoreError, shownServer } from '../credential-store.ts';

/** What the functions of this folder work with, for one server. */
export interface OAuthParts extends DiscoveryParts, RegistrationParts {
  storage: Pick<Storage, 'connections'>;
  keys: KeyRing;
  attempts: Attempts;
  disconnectWaitMs: number;
}

export type SharedParts = Omit<OAuthParts, 'server'>;

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

interface DiscoveryParts {
  server: ServerConfig;
  records: Records;
  /** All configured servers. */
  servers: ReadonlyMap<string, ServerConfig>;
  outbound: Outbound;
  now: () => number;
  /** Gets the documents that could not be used. */
  onBroken?(server: ServerConfig, broken: Broken): void;
}

const cacheLifeMs = 24 * 3_600_000;

/** How many of the authorization servers that a server names are tried. */
const maxIssuersTried = 3;

/** Throws `CredentialStoreError` when it cannot be found out now. */
export async function needsOf(parts: DiscoveryParts): Promise<Needs> {
  const { server } = parts;
  const key = recordKey(server);
  const known = await parts.records.recall(key, needsSchema);
  // The operator may have changed the configuration since.
  const isUsable = known && isAsWritten(server, known.value);
  if (isUsable && parts.now() - known.updatedAt < cacheLifeMs) return admitted(parts, known.value);
  const broken: Broken = [];
  try {
    const { needs, isCertain } = await findNeeds(parts, broken);
    if (broken.length > 0) parts.onBroken?.(server, broken);
    // While some documents are broken, the stored result is better than what is left of them.
    if (isUsable && broken.length > 0) return await admitted(parts, known.value);
    if (isCertain) await parts.records.remember(key, needs);
    return needs;
  } catch (error) {
    // While the server is down, the stored result is better than failing.
    if (isUsable && error instanceof OutboundError) return admitted(parts, known.value);
    throw withBroken(inWords(server, error), broken);
  }
}

/** After an unexpected 401: asks again, and uses the challenge. */
export async function needsAfterRefusal(
  parts: DiscoveryParts,
  challenge: string | null,
): Promise<OAuthNeeds> {
  const { server } = parts;
  const broken: Broken = [];
  try {
    const published = await publishedResource(server, parts.outbound, broken);
    const resource = published ?? (await challengedResource(server, challenge, parts.outbound));
    const needs = await oauthNeeds(parts, resource, broken);
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
  issuer: string,
): Promise<AuthorizationServer | null> {
  const { server } = parts;
  try {
    const needs = await needsOf(parts);
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
  broken: Broken,
): Promise<{ needs: Needs; isCertain: boolean }> {
  const { outbound, server } = parts;
  const published = await publishedResource(server, outbound, broken);
  if (published) {
    const needs = await oauthNeeds(parts, published, broken);
    const scopes = needs.scopes.length > 0 ? needs.scopes : await challengedScopes(parts);
    return { needs: { ...needs, scopes }, isCertain: true };
  }
  const answer = await probe(server, outbound);
  // It may publish the broken document later.
  const isCertain = broken.length === 0;
  if (answer.kind !== 'challenged')
    return { needs: { kind: 'nothing' }, isCertain: isCertain && answer.kind === 'open' };
  const challenged = await challengedResource(server, answer.challenge, outbound);
  return { needs: await oauthNeeds(parts, challenged, broken), isCertain };
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
async function challengedScopes({ outbound, server }: DiscoveryParts): Promise<string[]> {
  const answer = await probe(server, outbound).catch(() => null);
  return answer?.kind === 'challenged' ? scopesOf(readChallenge(answer.challenge).scope) : [];
}

async function oauthNeeds(
  parts: DiscoveryParts,
  { resource, issuers, scopes }: ProtectedResource,
  broken: Broken,
): Promise<OAuthNeeds> {
  const { server } = parts;
  // Servers without protected-resource metadata are their own authorization server.
  const named = issuers.length > 0 ? issuers : [server.oauth?.issuer ?? new URL(server.url).origin];
  const candidates = await agreedIssuers(parts, named);
  let failure: unknown;
  for (const issuer of candidates.slice(0, maxIssuersTried)) {
    try {
      const authorizationServer = await readAuthorizationServer(parts.outbound, server, issuer, broken);
      await admitIssuer(parts, authorizationServer.issuer);
      return { kind: 'oauth', resource, scopes, authorizationServer };
    } catch (error) {
      if (error instanceof IssuerNotAgreed) throw error;
      failure = error;
    }
  }
  throw failure;
}

async function admitted(parts: DiscoveryParts, needs: Needs): Promise<Needs> {
  if (needs.kind === 'oauth') await admitIssuer(parts, needs.authorizationServer.issuer);
  return needs;
}

function isAsWritten({ oauth }: ServerConfig, needs: Needs): boolean {
  if (oauth?.issuer === undefined) return true;
  return needs.kind === 'oauth' && isSameIssuer(needs.authorizationServer.issuer, oauth.issuer);
}

/** The next look asks the server again. */
export async function forgetNeeds({ records, server }: DiscoveryParts): Promise<void> {
  await records.forget(recordKey(server));
}

function recordKey(server: ServerConfig): string {
  return `server:${server.url}`;
}

// The sign-in servers that a server may send people to. The configured one counts; without it, the first one that was used,
// until the operator agrees to another. A server that names the sign-in server of another server could get tokens for that
// one, so the operator has to agree to this, too.

/** The operator has to agree first. */
export class IssuerNotAgreed extends CredentialStoreError {
  override name = 'IssuerNotAgreed';
}

const seenSchema = z.object({ issuer: z.string() });

/** The named issuers that may be used, in order. Throws `IssuerNotAgreed` when there is none. */
async function agreedIssuers(parts: DiscoveryParts, named: string[]): Promise<string[]> {
  const { server } = parts;
  const expected = configuredIssuer(server) ?? (await seenIssuer(parts));
  if (expected === undefined) return named;
  const agreed = named.find((one) => isSameIssuer(one, expected));
  if (agreed === undefined) throw issuerChanged(server, expected, named);
  return [agreed];
}

/** Remembers the first issuer of a server. Throws `IssuerNotAgreed` when this one may not be used. */
async function admitIssuer(parts: DiscoveryParts, issuer: string): Promise<void> {
  const { server } = parts;
  const pin = configuredIssuer(server);
  const before = await seenIssuer(parts);
  if (pin === undefined) {
    const owner = await otherUserOf(parts, issuer, before === undefined);
    if (owner) throw issuerOfOther(server, issuer, owner);
  }
  const expected = pin ?? before ?? issuer;
  if (!isSameIssuer(expected, issuer)) throw issuerChanged(server, expected, [issuer]);
  if (before !== issuer) await parts.records.remember(issuerKey(server), { issuer });
}

/** The other server that uses this sign-in server, by configuration or, with `bySeen`, by first use. */
async function otherUserOf(
  parts: DiscoveryParts,
  issuer: string,
  bySeen: boolean,
): Promise<ServerConfig | undefined> {
  const { origin } = new URL(parts.server.url);
  const others = [...parts.servers.values()].filter(
    (other) => other.store === 'oauth' && !other.process && new URL(other.url).origin !== origin,
  );
  const isThisIssuer = (theirs: string | undefined) => theirs !== undefined && isSameIssuer(theirs, issuer);
  const pinned = others.find((other) => isThisIssuer(configuredIssuer(other)));
  if (pinned || !bySeen) return pinned;
  for (const server of others) if (isThisIssuer(await seenIssuer({ ...parts, server }))) return server;
  return undefined;
}

async function seenIssuer({ records, server }: DiscoveryParts): Promise<string | undefined> {
  return (await records.recall(issuerKey(server), seenSchema))?.value.issuer;
}

function configuredIssuer({ oauth }: ServerConfig): string | undefined {
  return oauth?.issuer;
}

function issuerKey({ url }: ServerConfig): string {
  return `issuer:${url}`;
}

function issuerChanged(server: ServerConfig, expected: string, named: string[]): IssuerNotAgreed {
  const names = `it names ${named.map(quoted).join(', ')}`;
  const [next = ''] = named;
  const how = `if that is right, write oauth.issuer: ${quoted(next)} for servers.${server.name} in the agents file`;
  return server.oauth?.issuer === undefined
    ? notAgreed(server, 'sign_in_changed', `${names}, and was first used with ${quoted(expected)}; ${how}`)
    : notAgreed(
        server,
        'sign_in_not_as_written',
        `${names}, and oauth.issuer is ${quoted(expected)}; ${how}`,
      );
}

function issuerOfOther(server: ServerConfig, issuer: string, owner: ServerConfig): IssuerNotAgreed {
  return notAgreed(
    server,
    'sign_in_of_other',
    `${quoted(issuer)} is the one of servers.${owner.name}; if it is this one's, too, write oauth.issuer: ` +
      `${quoted(issuer)} for servers.${server.name} in the agents file`,
  );
}

function notAgreed(
  server: ServerConfig,
  code: 'sign_in_changed' | 'sign_in_not_as_written' | 'sign_in_of_other',
  detail: string,
): IssuerNotAgreed {
  return new IssuerNotAgreed({ code, server: shownServer(server) }, { detail, isOperators: true });
}

/** The text is untrusted, and an operator reads it, perhaps in a terminal. */
function quoted(issuer: string): string {
  return URL.canParse(issuer)
    ? new URL(issuer).href.slice(0, 300).replace(/\/$/, '')
    : 'something that is no address';
}
