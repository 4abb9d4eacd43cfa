/** The server refused a token: whether there is a better one, or what to ask the person for. */
import type { ServerConfig } from '../../config/config.ts';
import type { ConnectionKey, ConnectionRow } from '../../storage/ports/connections.ts';
import { requireOwner } from '../connection-key.ts';
import { bearerCredential } from '../oauth/access-token.ts';
import { afterDoubt } from '../resolution.ts';
import { requestedScopes } from '../oauth/challenge.ts';
import type { Resolution } from '../resolution.ts';
import type { ConnectionRequired, Credential, Refusal, Unrelated } from '../store.ts';
import { underLock } from '../under-lock.ts';
import { NangoError, beingWorkedOn } from './failure.ts';
import { afterFailure, broken, findUsable, recovered, required, resolve } from './resolve.ts';
import type { ResolverParts, Usable } from './resolve.ts';
import type { Token } from './tokens.ts';

/** A token of an account this young that is refused would be refused again if it were renewed. */
const tooYoungToRenewMs = 30_000;
/** Longer than two requests to Nango may take. */
const lockWaitMs = 15_000;

export async function reject(
  parts: ResolverParts,
  server: ServerConfig,
  owner: ConnectionKey,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  if (server.credentialScope === 'none') return required('rejected', refusal.version, []);
  const key = requireOwner(server, owner);
  const found = await findUsable(parts, server, key);
  // Connected anew or found broken since: what is there now is the answer.
  if (found.kind !== 'usable' || found.row.version !== refusal.version) return resolve(parts, server, owner);
  if (refusal.status === 403) return forbidden(found.row, refusal);
  const held = parts.tokens.held(ofUsable(found));
  if (held && held.id !== refusal.tokenId) return credentialOf(held, found.row);
  // Once, however many calls and processes were refused the same token.
  return underLock(
    parts.storage.connections,
    { key, waitMs: lockWaitMs },
    () => replaceToken(parts, server, key, refusal),
    () => {
      throw beingWorkedOn(server);
    },
  );
}

async function replaceToken(
  parts: ResolverParts,
  server: ServerConfig,
  key: ConnectionKey,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const found = await findUsable(parts, server, key);
  if (found.kind !== 'usable') return found;
  if (found.row.version === refusal.version) return unauthorized(parts, server, found, refusal);
  return credentialOf(await parts.tokens.read(ofUsable(found)), found.row);
}

async function unauthorized(
  parts: ResolverParts,
  server: ServerConfig,
  usable: Usable,
  refusal: Refusal,
): Promise<Resolution | Unrelated> {
  const { tokens } = parts;
  const { tokenId } = refusal;
  const of = ofUsable(usable);
  const { row } = usable;
  const held = tokens.held(of);
  if (held && held.id !== tokenId) return credentialOf(held, row);
  tokens.forget(of);
  try {
    const current = await tokens.read(of);
    if (current.id !== tokenId) return await renewedTo(parts, current, row);
    if (parts.now() - row.updatedAt < tooYoungToRenewMs) return await refused(parts, usable, refusal);
    const renewed = await tokens.read(of, { renew: true });
    if (renewed.id !== tokenId) return await renewedTo(parts, renewed, row);
  } catch (error) {
    if (!(error instanceof NangoError) || !isFinal(error)) return afterFailure(parts, server, usable, error);
  }
  tokens.forget(of);
  return refused(parts, usable, refusal);
}

/** One call of one user does not take an account away from everybody. */
async function refused(
  parts: ResolverParts,
  { row, link }: Usable,
  { isDoubtful }: Refusal,
): Promise<Resolution | Unrelated> {
  if (isDoubtful) return afterDoubt(row, { connectedAt: link.since, now: parts.now() });
  return row.user === null ? required('rejected', row.version, row.scopes) : broken(parts, row, 'rejected');
}

async function renewedTo(parts: ResolverParts, token: Token, row: ConnectionRow): Promise<Resolution> {
  await recovered(parts, row);
  return credentialOf(token, row);
}

/** No other token is to be had. A key that may not renew is logged where it was refused. */
function isFinal({ failure }: NangoError): boolean {
  return failure.kind === 'not-renewed' || (failure.kind === 'misconfigured' && failure.status === 403);
}

/** The account is fine as far as it goes, so it stays active for what it may do. */
function forbidden(row: ConnectionRow, { challenge }: Refusal): ConnectionRequired {
  const asked = requestedScopes(challenge);
  const missing = asked?.filter((one) => !row.scopes.includes(one)) ?? [];
  // All of it is held already, so asking for it again would not help.
  if (asked === null || (asked.length > 0 && missing.length === 0))
    return required('rejected', row.version, row.scopes);
  return required('insufficient_scope', row.version, missing);
}

function credentialOf({ accessToken }: Token, { version }: ConnectionRow): Credential {
  return bearerCredential(accessToken, version);
}

function ofUsable({ link, row }: Usable) {
  return { link, version: row.version };
}
