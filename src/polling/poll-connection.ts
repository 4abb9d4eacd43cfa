/** One poll of a credential store: has an account been connected there without our being notified? */
import type { Logger } from 'pino';
import { createFindConnection } from '../activities/find-connection.ts';
import { CredentialStoreError } from '../credentials/store-error.ts';
import type { ExpectedConnection } from '../turn/ask.ts';

export type ConnectionPollResult =
  | { kind: 'connected'; version: number }
  | { kind: 'nothing-yet'; againMs: number };

/** Backoff between polls: most people connect within seconds. */
const firstPauseMs = 2_000;
const longestPauseMs = 15_000;

export function createConnectionPoll(
  dependencies: Parameters<typeof createFindConnection>[0] & { logger: Logger },
) {
  const { findConnection } = createFindConnection(dependencies);

  return async (expected: ExpectedConnection, count: number): Promise<ConnectionPollResult> => {
    const pauseMs = Math.min(firstPauseMs * 1.5 ** (count - 1), longestPauseMs);
    try {
      const version = await findConnection(expected);
      return version === null ? { kind: 'nothing-yet', againMs: pauseMs } : { kind: 'connected', version };
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      const { forOperator: reason, retryAfterMs } = error;
      dependencies.logger.warn({ server: expected.server, reason }, 'an account could not be looked for');
      return { kind: 'nothing-yet', againMs: retryAfterMs ?? pauseMs };
    }
  };
}
