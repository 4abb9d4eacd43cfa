/**
 * What can go wrong at Nango, as ours. An error of its client library carries the API key, so none gets further than
 * this: neither as a cause nor by its message.
 */
import { z } from 'zod';
import type { ServerConfig } from '../../config/config.ts';
import { CredentialStoreError } from '../store-error.ts';

export type Failure =
  /** Nango has no such connection. */
  | { kind: 'missing' }
  /** The provider did not renew the token; whether for good or because it is away, Nango does not say. */
  | { kind: 'not-renewed' }
  /** Waiting does not help: a wrong key, an unknown integration, no server of Nango's. */
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
/** A refused renewal is not tried again by Nango for 30 seconds. */
export const renewalPauseMs = 31_000;

/** Of the library's errors, only what is read here is known to be no secret. */
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
  // Only in Nango's own words: whatever else answers at that address knows nothing of connections.
  if ((status === 404 && code === 'not_found') || code === 'unknown_connection') return { kind: 'missing' };
  if (status === 424 || code === 'invalid_credentials') return { kind: 'not-renewed' };
  return { kind: 'misconfigured', status, code: /^[a-z_]{1,60}$/.test(code) ? code : '' };
}

/** The form with a date is not in use there. */
function retryAfterMs(header: string | undefined): number {
  const seconds = Number(header || 'unknown');
  if (Number.isNaN(seconds)) return awayMs;
  return Math.min(longestWaitMs, Math.max(awayMs, Math.ceil(seconds * 1000)));
}

/** In words for people and models. Of a missing connection, too: where that has no meaning of its own, it is no answer. */
export function inWords({ title }: Pick<ServerConfig, 'title'>, failure: Failure): CredentialStoreError {
  const keeper = `Nango, which keeps the accounts of ${title},`;
  switch (failure.kind) {
    case 'away':
      return new CredentialStoreError(`${keeper} cannot be reached right now.`, { retryAfterMs: awayMs });
    case 'busy':
      return new CredentialStoreError(`${keeper} has too much to do right now.`, failure);
    case 'not-renewed':
      return notRenewed({ title }, renewalPauseMs);
    case 'missing':
    case 'misconfigured':
      return new CredentialStoreError(
        `${keeper} does not do what it is asked; an operator has to look at its settings.`,
      );
    default:
      return failure satisfies never;
  }
}

export function notRenewed(
  { title }: Pick<ServerConfig, 'title'>,
  retryAfterMs: number,
): CredentialStoreError {
  return new CredentialStoreError(`The access to ${title} could not be renewed just now.`, { retryAfterMs });
}

/** Somebody else is at work on this very account. */
export function beingWorkedOn({ title }: Pick<ServerConfig, 'title'>): CredentialStoreError {
  return new CredentialStoreError(`The account of ${title} is being worked on; try again.`, {
    retryAfterMs: 1_000,
  });
}

/** An error of ours on its way to whoever asked for an account of this server. */
export function toStoreError(server: Pick<ServerConfig, 'title'>, error: unknown): unknown {
  return error instanceof NangoError ? inWords(server, error.failure) : error;
}
