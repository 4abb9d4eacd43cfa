/** What was remembered of a server, and has made it turn a call down before anything was done. */
import { mayHaveChanged } from './connect.ts';
import type { Connection } from './connect.ts';
import type { Session } from '../input-required.ts';
import type { CallOutcome, Sighting } from './call-outcome.ts';

export type Stale = 'era' | 'schema' | 'session' | 'kept';

const unsupportedVersion = -32022;
const headerMismatch = -32020;

export function staleIn(
  { client, fromMemory }: Connection,
  outcome: CallOutcome,
  sighting: Sighting,
  session: Session | undefined,
): Stale | undefined {
  if (sighting.end) return undefined;
  if (fromMemory && speaksAnotherEra(outcome, sighting)) return 'era';
  if (client.getProtocolEra() === 'modern' && lacksHeaders(sighting)) return 'schema';
  return session && isForgotten(sighting) ? 'session' : undefined;
}

/** Older servers may mean anything by this code. */
function lacksHeaders({ answer }: Sighting): boolean {
  return answer !== undefined && 'error' in answer && answer.error.code === headerMismatch;
}

/**
 * Whether the call was turned down for what was kept from an earlier one. A server that has forgotten a session says
 * so with 404, some with 400 or 401; and one that was not reached may be again.
 */
export function isKeptInVain({ kind }: CallOutcome, sighting: Sighting): boolean {
  if (sighting.end) return false;
  return kind === 'refused' || isForgotten(sighting) || sighting.exchange?.left !== true;
}

/** The session was not known any more, so nothing was done in it. */
function isForgotten({ exchange, answer }: Sighting): boolean {
  return exchange?.status === 404 || (exchange?.status === 400 && answer === undefined);
}

/** Only where the call was certainly not executed, so that it can be made again. */
function speaksAnotherEra({ kind }: CallOutcome, { exchange, answer }: Sighting): boolean {
  if (kind !== 'rejected' && kind !== 'unreachable') return false;
  if (answer) return 'error' in answer && answer.error.code === unsupportedVersion;
  return mayHaveChanged(exchange?.status);
}
