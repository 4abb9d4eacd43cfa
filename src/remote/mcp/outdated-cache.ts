/** What was remembered of a server and has made a call fail; except with `cannot-ask`, before anything was done. */
import type { Session } from '../input-required.ts';
import type { CallOutcome } from '../tool-call.ts';
import type { CallTrace } from './call-outcome.ts';
import { eraMayHaveChanged } from './connect.ts';
import type { Connection } from './connection.ts';
import { couldNotAsk } from './could-not-ask.ts';

export type OutdatedCache =
  | 'era'
  | 'schema'
  | 'session'
  | 'pooled-session'
  /** The server could not ask in the era it was called in. The tool may have run up to that point. */
  | 'cannot-ask';

const unsupportedVersion = -32022;
const headerMismatch = -32020;

export function outdatedCacheOf(
  { client, isEraCached }: Connection,
  outcome: CallOutcome,
  trace: CallTrace,
  session: Session | undefined,
): OutdatedCache | undefined {
  if (trace.end) return undefined;
  if (trace.answer && couldNotAsk(trace.answer)) return 'cannot-ask';
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
export function isPooledSessionGone(outcome: CallOutcome, trace: CallTrace): boolean {
  if (trace.end) return false;
  const isRefused = outcome.kind === 'refused' && outcome.otherwise?.kind !== 'unknown';
  return isRefused || isForgotten(trace) || trace.exchange?.isSent !== true;
}

/** The session was not known any more, so nothing was done in it. */
function isForgotten({ exchange, answer }: CallTrace): boolean {
  return exchange?.status === 404 || (exchange?.status === 400 && answer === undefined);
}

/** Only where the call was certainly not executed, so that it can be made again. */
function speaksAnotherEra(outcome: CallOutcome, { exchange, answer }: CallTrace): boolean {
  const kind = outcome.kind === 'refused' ? outcome.otherwise?.kind : outcome.kind;
  if (kind !== 'rejected' && kind !== 'unreachable') return false;
  if (answer) return 'error' in answer && answer.error.code === unsupportedVersion;
  return eraMayHaveChanged(exchange?.status);
}
