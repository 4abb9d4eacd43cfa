/** A token for one call, or why a person is needed. A Nango that is away is no reason to ask anybody anything. */
import type { Logger } from 'pino';
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionReason } from '../../elicitation/elicitation.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import type { Storage } from '../../storage/storage.ts';
import type { KeyRing } from '../sealing/key-ring.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/access-token.ts';
import { connectionRequired, noCredential } from '../resolution.ts';
import type { Resolution } from '../resolution.ts';
import { CredentialStoreError } from '../store-error.ts';
import type { ConnectionRequired, CredentialStore } from '../store.ts';
import { NangoError, inWords, notRenewed, renewalPauseMs } from './failure.ts';
import { isFor, openLink } from './link.ts';
import type { Link } from './link.ts';
import { NoTokenError } from './tokens.ts';
import type { Tokens } from './tokens.ts';

/** A connection that may be used as far as we know. */
export interface Usable {
  kind: 'usable';
  row: ConnectionRow;
  link: Link;
}

interface Dependencies {
  storage: Pick<Storage, 'connections' | 'connectAttempts'>;
  keys: KeyRing;
  tokens: Tokens;
  catchUp: NonNullable<CredentialStore['catchUp']>;
  logger: Logger;
  now: () => number;
}

/** So long after a refused renewal another refusal is the same trouble; later it is a new one, which may pass. */
const sameTroubleMs = 600_000;

export type Resolver = ReturnType<typeof createResolver>;

export function createResolver({ storage, keys, tokens, catchUp, logger, now }: Dependencies) {
  const { connections } = storage;

  async function resolve(server: ServerConfig, owner: ConnectionKey): Promise<Resolution> {
    if (server.credentialScope === 'none') return noCredential;
    const key = requireOwner(server, owner);
    const recorded = await find(server, key);
    if (recorded.kind === 'usable') return use(server, recorded);
    // Somebody may have connected it without our being told.
    await catchUp(server, key);
    const found = await find(server, key);
    return found.kind === 'usable' ? use(server, found) : found;
  }

  /** What is recorded, whatever Nango would say. */
  async function find(server: ServerConfig, key: ConnectionKey): Promise<Usable | ConnectionRequired> {
    const configured = server.nango?.scopes ?? [];
    const row = await connections.get(key);
    // Of a removed connection: late news of it must not settle the question that is asked now.
    if (!row) return required('missing', await connections.lastVersion(key), configured);
    const opened = openLink(keys, row);
    if (opened.kind === 'unreadable')
      throw new CredentialStoreError(
        `The stored account of ${server.title} cannot be opened (${opened.why}).`,
      );
    // Whatever another store keeps, or was connected for another address, must not be sent to this one.
    if (opened.kind === 'none' || !isFor(opened.link, server))
      return required('missing', row.version, configured);
    if (row.status === 'broken') return required(row.brokenReason ?? 'rejected', row.version, row.scopes);
    return { kind: 'usable', row, link: opened.link };
  }

  async function use(server: ServerConfig, usable: Usable): Promise<Resolution> {
    const of = { link: usable.link, version: usable.row.version };
    const held = tokens.held(of);
    if (held && now() < held.freshUntil) return bearerCredential(held.accessToken, usable.row.version);
    try {
      const token = await tokens.read(of);
      await recovered(usable.row);
      return bearerCredential(token.accessToken, usable.row.version);
    } catch (error) {
      // What Nango says of the connection counts; that it says nothing does not, while the token lasts.
      const isSilent = error instanceof NangoError && error.failure.kind !== 'missing';
      if (held && isSilent) return bearerCredential(held.accessToken, usable.row.version);
      return afterFailure(server, usable, error);
    }
  }

  /** What a failed reading means for whoever needs the account. */
  async function afterFailure(
    server: ServerConfig,
    { row, link }: Usable,
    error: unknown,
  ): Promise<Resolution> {
    if (error instanceof NoTokenError) {
      const { integration } = link;
      logger.error(
        { integration },
        'Nango gives no token; look at what our key may do and at the integration',
      );
      throw new CredentialStoreError(
        `Nango has no token of the account of ${server.title} for us; an operator has to look at its settings.`,
      );
    }
    if (!(error instanceof NangoError)) throw error;
    const { failure } = error;
    switch (failure.kind) {
      case 'missing':
        return required('missing', row.version, row.scopes);
      case 'not-renewed':
        return whenNotRenewed(server, row);
      case 'away':
      case 'busy':
      case 'misconfigured':
        throw inWords(server, failure);
      default:
        return failure satisfies never;
    }
  }

  /** The provider may be away for a moment, or may have said no for good: Nango's answers are the same. */
  async function whenNotRenewed(server: ServerConfig, row: ConnectionRow): Promise<ConnectionRequired> {
    const age = row.troubledAt === null ? Infinity : now() - row.troubledAt;
    if (age >= sameTroubleMs) {
      await connections.markTroubled(row, row.version, now());
      throw notRenewed(server, renewalPauseMs);
    }
    const left = renewalPauseMs - 1_000 - age;
    if (left > 0) throw notRenewed(server, left + 1_000);
    return broken(row, 'revoked');
  }

  async function recovered(row: ConnectionRow): Promise<void> {
    if (row.troubledAt !== null) await connections.markTroubled(row, row.version, null);
  }

  async function broken(row: ConnectionRow, reason: ConnectionReason): Promise<ConnectionRequired> {
    await connections.markBroken(row, row.version, reason);
    return required(reason, row.version, row.scopes);
  }

  return { resolve, find, afterFailure, broken, recovered };
}

/** How long access lasts is no news to the person who is asked. */
export function required(
  reason: ConnectionReason,
  seenVersion: number,
  scopes: string[],
): ConnectionRequired {
  return connectionRequired(
    reason,
    seenVersion,
    scopes.filter((scope) => scope !== 'offline_access'),
  );
}
