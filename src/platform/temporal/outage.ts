/** Whether Temporal could not be reached, refused the login, or could not do its work. */
import { TransportError } from '@temporalio/worker';
import { grpcStatus, grpcStatusOf } from './grpc-status.ts';

/** Status codes of wrong requests. */
const ours: number[] = [
  grpcStatus.invalidArgument,
  grpcStatus.notFound,
  grpcStatus.alreadyExists,
  grpcStatus.failedPrecondition,
  grpcStatus.outOfRange,
  grpcStatus.unimplemented,
];

export class TemporalUnreachable extends Error {
  override name = 'TemporalUnreachable';
}

export function isTemporalOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof TemporalUnreachable || error instanceof TransportError) return true;
  const status = grpcStatusOf(error);
  return status === undefined ? isTemporalOutage(error.cause) : !ours.includes(status);
}
