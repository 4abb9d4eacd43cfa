/** What was remembered of a server, and has made it turn a call down before anything was done. */
import type { Session } from '../input-required.ts';
import type { CallOutcome } from '../tool-call.ts';
import type { CallTrace } from './call-outcome.ts';
import { eraMayHaveChanged } from './connect.ts';
import type { Connection } from './connection.ts';

export type OutdatedCache = 'era' | 'schema' | 'session' | 'pooled-session';

const unsupportedVersion = -32022;
const headerMismatch = -32020;

export function outdatedCacheOf(
  { client, isEraCached }: Connection,
  outcome: CallOutcome,
  trace: CallTrace,
  session: Session | undefined,
): OutdatedCache | undefined {
  if (trace.end) return undefined;
  if (isEraCached && speaksAnotherEra(outcome, trace)) return 'era';
  if (client.getProtocolEra() === 'modern' && lacksHeaders(trace)) return 'schema';
  return session && isForgotten(trace) ? 'session' : undefined;
}

/** Older servers may mean anything by this code. */
function lacksHeaders({ answer }: CallTrace): boolean {
  return answer !== undefined && 'error' in answer && answer.error.code === headerMismatch;
}

/**
 * Whether the call was turned down for the pooled session it was made in. A server that has forgotten a session says so
 * with 404, some with 400 or 401; and one that was not reached may be reached on a new connection.
 */
export function isPooledSessionGone({ kind }: CallOutcome, trace: CallTrace): boolean {
  if (trace.end) return false;
  return kind === 'refused' || isForgotten(trace) || trace.exchange?.isSent !== true;
}

/** The session was not known any more, so nothing was done in it. */
function isForgotten({ exchange, answer }: CallTrace): boolean {
  return exchange?.status === 404 || (exchange?.status === 400 && answer === undefined);
}

/** Only where the call was certainly not executed, so that it can be made again. */
function speaksAnotherEra({ kind }: CallOutcome, { exchange, answer }: CallTrace): boolean {
  if (kind !== 'rejected' && kind !== 'unreachable') return false;
  if (answer) return 'error' in answer && answer.error.code === unsupportedVersion;
  return eraMayHaveChanged(exchange?.status);
}
