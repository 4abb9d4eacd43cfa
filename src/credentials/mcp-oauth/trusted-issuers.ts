/**
 * Which sign-in servers a server may send people to. What the operator wrote counts; without it, the first one that
 * was seen, until the operator agrees to another. A server that names the one of another server could get tokens with
 * which to act there, so that takes the operator's word, too.
 */
import { z } from 'zod';
import type { ServerConfig } from '../../config/agents-file/server-config.ts';
import { CredentialStoreError, operatorError } from '../store-error.ts';
import { isSameIssuer } from './client-metadata.ts';
import type { Records } from './records.ts';

/** The operator has to agree first. */
export class IssuerNotAgreed extends CredentialStoreError {
  override name = 'IssuerNotAgreed';
}

export interface TrustedIssuers {
  /** Those to try, in this order, out of those that the server names. Throws `IssuerNotAgreed` when none may be. */
  among(server: ServerConfig, named: string[]): Promise<string[]>;
  /** Remembers the first one. Throws `IssuerNotAgreed` when this one may not be used. */
  admit(server: ServerConfig, issuer: string): Promise<void>;
}

const seenSchema = z.object({ issuer: z.string() });

interface Parts {
  records: Records;
  /** All that are configured. */
  servers: ReadonlyMap<string, ServerConfig>;
}

export function createTrustedIssuers(parts: Parts): TrustedIssuers {
  return {
    among: (server, named) => among(parts, server, named),
    admit: (server, issuer) => admit(parts, server, issuer),
  };
}

async function among(parts: Parts, server: ServerConfig, named: string[]): Promise<string[]> {
  const expected = pinOf(server) ?? (await seenIssuer(parts, server));
  if (expected === undefined) return named;
  const agreed = named.find((one) => isSameIssuer(one, expected));
  if (agreed === undefined) throw changed(server, expected, named);
  return [agreed];
}

async function admit(parts: Parts, server: ServerConfig, issuer: string): Promise<void> {
  const pin = pinOf(server);
  const before = await seenIssuer(parts, server);
  if (pin === undefined) {
    const owner = await ownerOf(parts, server, issuer, before === undefined);
    if (owner) throw anothers(server, issuer, owner);
  }
  const expected = pin ?? before ?? issuer;
  if (!isSameIssuer(expected, issuer)) throw changed(server, expected, [issuer]);
  if (before !== issuer) await parts.records.remember(recordKey(server), { issuer });
}

/** Whose sign-in server this is already: as an operator has written, or, with `bySeen`, as it was first used. */
async function ownerOf(
  parts: Parts,
  server: ServerConfig,
  issuer: string,
  bySeen: boolean,
): Promise<ServerConfig | undefined> {
  const others = othersThan(parts, server);
  const isIts = (theirs: string | undefined) => theirs !== undefined && isSameIssuer(theirs, issuer);
  const pinned = others.find((other) => isIts(pinOf(other)));
  if (pinned || !bySeen) return pinned;
  for (const other of others) if (isIts(await seenIssuer(parts, other))) return other;
  return undefined;
}

function othersThan({ servers }: Parts, { url }: ServerConfig): ServerConfig[] {
  const { origin } = new URL(url);
  return [...servers.values()].filter(
    (other) => other.store === 'oauth' && !other.process && new URL(other.url).origin !== origin,
  );
}

async function seenIssuer({ records }: Parts, server: ServerConfig): Promise<string | undefined> {
  return (await records.recall(recordKey(server), seenSchema))?.value.issuer;
}

function pinOf({ oauth }: ServerConfig): string | undefined {
  return oauth?.issuer;
}

function recordKey({ url }: ServerConfig): string {
  return `issuer:${url}`;
}

function changed(server: ServerConfig, expected: string, named: string[]): IssuerNotAgreed {
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

function anothers(server: ServerConfig, issuer: string, owner: ServerConfig): IssuerNotAgreed {
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

/** A stranger wrote it, and an operator reads it, perhaps in a terminal. */
function quoted(issuer: string): string {
  return URL.canParse(issuer)
    ? new URL(issuer).href.slice(0, 300).replace(/\/$/, '')
    : 'something that is no address';
}
