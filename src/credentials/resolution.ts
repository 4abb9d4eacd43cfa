/** What a store answers to whoever needs a credential, as every store builds it. */
import { hash } from 'node:crypto';
import type { ConnectionReason } from '../elicitation/elicitation.ts';
import type { ConnectionRow } from '../storage/ports/connections.ts';
import type { ConnectionRequired, Credential, AccountStatus, Unrelated } from './store.ts';

export type Resolution = Credential | ConnectionRequired;

/** Of a server that needs no account. */
export const noCredential: Credential = { kind: 'credential', headers: {}, version: 0 };

export function connectionRequired(
  reason: ConnectionReason,
  seenVersion: number,
  scopes: string[] = [],
): ConnectionRequired {
  return { kind: 'connection-required', reason, seenVersion, ...(scopes.length > 0 && { scopes }) };
}

/** A server that answers oddly to an account this young does so for another reason. */
const provenMs = 10 * 60_000;

/** What a doubtful refusal means where the credential cannot be renewed. */
export function afterDoubt(
  row: Pick<ConnectionRow, 'version' | 'scopes'>,
  { connectedAt, now }: { connectedAt: number; now: number },
): ConnectionRequired | Unrelated {
  return now - connectedAt < provenMs
    ? { kind: 'unrelated' }
    : connectionRequired('rejected', row.version, row.scopes);
}

/** What a connection that has been marked broken is worth. */
export function brokenStatus({ brokenReason }: ConnectionRow, host: string): AccountStatus {
  const isSaid = brokenReason !== null && brokenReason !== 'missing';
  return { host, status: 'broken', reason: isSaid ? brokenReason : 'rejected' };
}

/** Names a secret without being one. */
export function tokenIdOf(secret: string): string {
  return hash('sha256', secret, 'base64url').slice(0, 16);
}

/** Anything else would end up, in full, in the error of whoever puts it into a header. */
export function fitsInHeader(secret: string): boolean {
  return /^[\x21-\x7e]+$/.test(secret);
}
