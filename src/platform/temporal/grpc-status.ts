/** The gRPC status codes that we distinguish in Temporal's answers. */
import { isGrpcServiceError } from '@temporalio/client';

export const grpcStatus = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  unauthenticated: 16,
} as const;

const names: Record<number, string> = {
  [grpcStatus.cancelled]: 'CANCELLED',
  [grpcStatus.deadlineExceeded]: 'DEADLINE_EXCEEDED',
  [grpcStatus.permissionDenied]: 'PERMISSION_DENIED',
  [grpcStatus.unavailable]: 'UNAVAILABLE',
  [grpcStatus.unauthenticated]: 'UNAUTHENTICATED',
};

/** Undefined if `error` is no error of a gRPC call. */
export function grpcStatusOf(error: unknown): number | undefined {
  if (!isGrpcServiceError(error)) return undefined;
  const status = Number(error.code);
  // The SDK's native part reports a broken connection as `unknown`, without the metadata that Temporal's answers have.
  const isBroken = status === grpcStatus.unknown && Object.keys(error.metadata.getMap()).length === 0;
  return isBroken ? grpcStatus.unavailable : status;
}

/** How the SDK's native part writes a status into the message of an error that has no code. */
const nativeWords: [RegExp, string][] = [
  [/does not have valid authentication credentials/, 'UNAUTHENTICATED'],
  [/does not have permission/, 'PERMISSION_DENIED'],
  [/certificate|\bTLS\b|tls handshake/i, 'TLS'],
];

/** For operators. Undefined for errors without a status, and for a status that is no outage. */
export function grpcStatusNameOf(error: unknown): string | undefined {
  const status = grpcStatusOf(error);
  if (status !== undefined) return names[status];
  if (!(error instanceof Error)) return undefined;
  return nativeWords.find(([words]) => words.test(error.message))?.[1];
}
