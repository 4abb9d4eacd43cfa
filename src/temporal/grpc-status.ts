/** gRPC's status codes, as far as Temporal's answers are told apart by them. */
import { isGrpcServiceError } from '@temporalio/client';

export const grpcStatus = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

/** Undefined for what is no error of a gRPC call. */
export function grpcStatusOf(error: unknown): number | undefined {
  return isGrpcServiceError(error) ? Number(error.code) : undefined;
}
