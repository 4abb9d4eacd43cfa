/**
 * Failures of Nango. An error of its client library contains the API key, so it never leaves this file, neither as a cause
 * nor by its message.
 */
import { z } from 'zod';
import type { ServerConfig } from '../../platform/config/config.ts';
import { CredentialStoreError } from '../credential-store.ts';

type Failure =
  /** Nango has no such connection. */
  | { kind: 'missing' }
  /** The provider did not renew the token. Nango does not say whether it refused or was down. */
  | { kind: 'not-renewed' }
  /** Waiting does not help: a wrong key, an unknown integration, or not a Nango server. */
  | { kind: 'misconfigured'; status: number | null; code: string }
  | { kind: 'busy'; retryAfterMs: number }
  | { kind: 'away' };

export class NangoError extends Error {
  override name = 'NangoError';
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(`Nango: ${failure.kind}`);
    this.failure = failure;
  }
}

const awayMs = 1_000;
const longestWaitMs = 60_000;
/** Nango does not repeat a refused renewal for 30 seconds. */
export const renewalPauseMs = 31_000;

/** The only members of the library's errors that are known not to be secret. */
const rejectionSchema = z.object({
  response: z.object({
    status: z.number(),
    data: z.unknown(),
    headers: z.object({ 'retry-after': z.string().optional().catch(undefined) }),
  }),
});
const bodySchema = z.object({ error: z.object({ code: z.string() }) });

export function failureOf(error: unknown): Failure {
  if (error instanceof NangoError) return error.failure;
  const rejection = rejectionSchema.safeParse(error);
  if (!rejection.success) return { kind: 'away' };
  const { status, data, headers } = rejection.data.response;
  const code = bodySchema.safeParse(data).data?.error.code ?? '';
  if (status === 429) return { kind: 'busy', retryAfterMs: retryAfterMs(headers['retry-after']) };
  if (status >= 500 || status === 408) return { kind: 'away' };
  // Only with Nango's own error codes: another server at this address knows nothing about connections.
  if ((status === 404 && code === 'not_found') || code === 'unknown_connection') return { kind: 'missing' };
  if (status === 424 || code === 'invalid_credentials') return { kind: 'not-renewed' };
  return { kind: 'misconfigured', status, code: /^[a-z_]{1,60}$/.test(code) ? code : '' };
}

/** Nango does not use the form with a date. */
function retryAfterMs(header: string | undefined): number {
  const seconds = Number(header || 'unknown');
  if (Number.isNaN(seconds)) return awayMs;
  return Math.min(longestWaitMs, Math.max(awayMs, Math.ceil(seconds * 1000)));
}

/** The error for people and models. `missing` counts as misconfigured where it has no meaning of its own. */
export function inWords(
  { title: server }: Pick<ServerConfig, 'title'>,
  failure: Failure,
): CredentialStoreError {
  switch (failure.kind) {
    case 'away':
      return new CredentialStoreError({ code: 'nango_away', server }, { retryAfterMs: awayMs });
    case 'busy':
      return new CredentialStoreError({ code: 'nango_busy', server }, failure);
    case 'not-renewed':
      return notRenewed({ title: server }, renewalPauseMs);
    case 'missing':
    case 'misconfigured':
      return new CredentialStoreError({ code: 'nango_misconfigured', server });
    default:
      return failure satisfies never;
  }
}

export function notRenewed(
  { title: server }: Pick<ServerConfig, 'title'>,
  retryAfterMs: number,
): CredentialStoreError {
  return new CredentialStoreError({ code: 'nango_not_renewed', server }, { retryAfterMs });
}

/** Another request holds the lock of this account. */
export function accountIsLocked({ title: server }: Pick<ServerConfig, 'title'>): CredentialStoreError {
  return new CredentialStoreError({ code: 'nango_locked', server }, { retryAfterMs: 1_000 });
}

/** Converts a `NangoError` for the callers of the store; other errors are returned unchanged. */
export function toStoreError(server: Pick<ServerConfig, 'title'>, error: unknown): unknown {
  return error instanceof NangoError ? inWords(server, error.failure) : error;
}
