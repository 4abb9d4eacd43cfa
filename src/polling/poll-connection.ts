/** One poll of a credential store: has an account been connected there without our being notified? */
import type { Logger } from 'pino';
import { findAccount } from '../activities/questions/find-account.ts';
import { CredentialStoreError } from '../credentials/store-error.ts';
import type { PollSubject } from '../storage/ports/polls.ts';

/** Backoff between polls: most people connect within seconds. */
const firstPauseMs = 2_000;
const longestPauseMs = 15_000;

/** In how many milliseconds to poll again; null when the account is connected, which has settled its questions. */
export function createConnectionPoll(parts: Parameters<typeof findAccount>[0] & { logger: Logger }) {
  return async (
    { turn, server, seenVersion }: Extract<PollSubject, { kind: 'connection' }>,
    count: number,
  ): Promise<number | null> => {
    const pauseMs = Math.min(firstPauseMs * 1.5 ** (count - 1), longestPauseMs);
    try {
      const isFound = await findAccount(parts, { ...turn, server, seenVersion });
      return isFound ? null : pauseMs;
    } catch (error) {
      if (!(error instanceof CredentialStoreError)) throw error;
      const { forOperator: reason, retryAfterMs } = error;
      parts.logger.warn({ server, reason }, 'an account could not be looked for');
      return retryAfterMs ?? pauseMs;
    }
  };
}
