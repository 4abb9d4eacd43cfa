/** Repeats, as long as the process runs, signals about connections that may have been lost. */
import type { Logger } from 'pino';
import type { ConnectionAnnouncer } from './announce-connection.ts';

export interface RepeatedAnnouncements {
  start(): void;
  /** Resolves when the round under way is over. */
  stop(): Promise<void>;
}

const everyMs = 5_000;

/** One round at a time; what a failed round has left, the next one does. */
export function repeatAnnouncements(
  announcer: Pick<ConnectionAnnouncer, 'reconcile'>,
  logger: Logger,
): RepeatedAnnouncements {
  let round: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const next = () => {
    round = announcer
      .reconcile()
      .catch((error: unknown) => logger.warn({ err: error }, 'lost signals could not be repeated'));
    void round.then(() => {
      if (timer) timer = setTimeout(next, everyMs).unref();
    });
  };
  return {
    start() {
      timer = setTimeout(next, 0).unref();
    },
    async stop() {
      clearTimeout(timer);
      timer = undefined;
      await round;
    },
  };
}
