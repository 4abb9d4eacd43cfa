/** Stops a process: gracefully at the first signal, immediately at the second. */
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';

interface Options {
  /** After this long the process ends, whatever is still under way. */
  delayMs: number;
  logger: Logger;
  stop(): Promise<void>;
}

/** A Ctrl+C at the terminal arrives twice, from the terminal and from npm: signals within this time are one. */
const sameKeyMs = 500;

export function stopOnSignal({ delayMs, logger, stop }: Options): void {
  const { close } = closeWithGrace(
    { delay: delayMs, logger: false, skip: ['SIGINT', 'SIGTERM'] },
    async ({ err }) => {
      if (err) logger.fatal({ err }, 'stopping because of an unexpected error');
      await stop();
    },
  );
  let first: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = performance.now();
      logger.info(`stopping (${signal}); turns that are under way go on later`);
      close();
    } else if (performance.now() - first > sameKeyMs) {
      process.exit(1);
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
}
