/**
 * The sign-in servers that a server may send people to. The configured one counts; without it, the first one that was used,
 * until the operator agrees to another. A server that names the sign-in server of another server could get tokens for that
 * one, so the operator has to agree to this, too.
 */
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/agents-file/server-config.ts';
import { CredentialStoreError, operatorError } from '../credential-store.ts';
import { isSameIssuer } from './client-metadata.ts';
import type { Records } from './records.ts';

/** The operator has to agree first. */
export class IssuerNotAgreed extends CredentialStoreError {
  override name = 'IssuerNotAgreed';
}

const seenSchema = z.object({ issuer: z.string() });

export interface IssuerParts {
  records: Records;
  /** All configured servers. */
  servers: ReadonlyMap<string, ServerConfig>;
}

/** The named issuers that may be used, in order. Throws `IssuerNotAgreed` when there is none. */
export async function agreedIssuers(
  parts: IssuerParts,
  server: ServerConfig,
  named: string[],
): Promise<string[]> {
  const expected = configuredIssuer(server) ?? (await seenIssuer(parts, server));
  if (expected === undefined) return named;
  const agreed = named.find((one) => isSameIssuer(one, expected));
  if (agreed === undefined) throw issuerChanged(server, expected, named);
  return [agreed];
}

/** Remembers the first issuer of a server. Throws `IssuerNotAgreed` when this one may not be used. */
export async function admitIssuer(parts: IssuerParts, server: ServerConfig, issuer: string): Promise<void> {
  const pin = configuredIssuer(server);
  const before = await seenIssuer(parts, server);
  if (pin === undefined) {
    const owner = await otherUserOf(parts, server, issuer, before === undefined);
    if (owner) throw issuerOfOther(server, issuer, owner);
  }
  const expected = pin ?? before ?? issuer;
  if (!isSameIssuer(expected, issuer)) throw issuerChanged(server, expected, [issuer]);
  if (before !== issuer) await parts.records.remember(recordKey(server), { issuer });
}

/** The other server that uses this sign-in server, by configuration or, with `bySeen`, by first use. */
async function otherUserOf(
  parts: IssuerParts,
  server: ServerConfig,
  issuer: string,
  bySeen: boolean,
): Promise<ServerConfig | undefined> {
  const others = othersThan(parts, server);
  const isThisIssuer = (theirs: string | undefined) => theirs !== undefined && isSameIssuer(theirs, issuer);
  const pinned = others.find((other) => isThisIssuer(configuredIssuer(other)));
  if (pinned || !bySeen) return pinned;
  for (const other of others) if (isThisIssuer(await seenIssuer(parts, other))) return other;
  return undefined;
}

function othersThan({ servers }: IssuerParts, { url }: ServerConfig): ServerConfig[] {
  const { origin } = new URL(url);
  return [...servers.values()].filter(
    (other) => other.store === 'oauth' && !other.process && new URL(other.url).origin !== origin,
  );
}

async function seenIssuer({ records }: IssuerParts, server: ServerConfig): Promise<string | undefined> {
  return (await records.recall(recordKey(server), seenSchema))?.value.issuer;
}

function configuredIssuer({ oauth }: ServerConfig): string | undefined {
  return oauth?.issuer;
}

function recordKey({ url }: ServerConfig): string {
  return `issuer:${url}`;
}

function issuerChanged(server: ServerConfig, expected: string, named: string[]): IssuerNotAgreed {
  const names = `it names ${named.map(quoted).join(', ')}`;
  const [next = ''] = named;
  const how = `if that is right, write oauth.issuer: ${quoted(next)} for servers.${server.name} in the agents file`;
  return server.oauth?.issuer === undefined
    ? notAgreed(
        server,
        'has another sign-in server than before, and nobody is sent there until the operator of this service has agreed',
        `${names}, and was first used with ${quoted(expected)}; ${how}`,
      )
    : notAgreed(
        server,
        'names another sign-in server than the operator of this service has written, so nobody is sent there',
        `${names}, and oauth.issuer is ${quoted(expected)}; ${how}`,
      );
}

function issuerOfOther(server: ServerConfig, issuer: string, owner: ServerConfig): IssuerNotAgreed {
  return notAgreed(
    server,
    'names the sign-in server of another server, and nobody is sent there until the operator of this service has agreed',
    `${quoted(issuer)} is the one of servers.${owner.name}; if it is this one's, too, write oauth.issuer: ` +
      `${quoted(issuer)} for servers.${server.name} in the agents file`,
  );
}

function notAgreed(server: ServerConfig, what: string, detail: string): IssuerNotAgreed {
  return new IssuerNotAgreed(operatorError(server, what, detail).message, { detail, isOperators: true });
}

/** The text is untrusted, and an operator reads it, perhaps in a terminal. */
function quoted(issuer: string): string {
  return URL.canParse(issuer)
    ? new URL(issuer).href.slice(0, 300).replace(/\/$/, '')
    : 'something that is no address';
}
