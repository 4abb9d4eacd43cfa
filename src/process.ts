/** What every process of ours does around its own work: read the configuration, start, stop on a signal. */
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import { ConfigError, readConfig } from './config.ts';
import type { Config } from './config.ts';
import { createLogger } from './logger.ts';

/** Longer than a worker waits for its activities, shorter than an orchestrator's patience. */
const graceMs = 25_000;

export async function runProcess(
  { human }: { human: boolean },
  start: (config: Config, logger: Logger, stack: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  const stack = new AsyncDisposableStack();
  try {
    const config = readConfig();
    const logger = createLogger({ level: config.logLevel, human });
    closeWithGrace({ delay: graceMs, logger: false }, async ({ err, signal }) => {
      if (err) logger.fatal({ err }, 'stopping because of an unexpected error');
      else logger.info(`stopping${signal ? ` (${signal})` : ''}; turns that are under way go on later`);
      // What is still starting would be left behind.
      await starting.catch(() => undefined);
      await stack.disposeAsync();
    });
    const starting = start(config, logger, stack);
    await starting;
  } catch (error) {
    process.stderr.write(`\n${explain(error)}\n`);
    await stack.disposeAsync();
    process.exit(1);
  }
}

/** Errors with a remedy speak for themselves; only surprises show where they come from. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error)
    return 'code' in error || error.name !== 'Error' ? error.message : (error.stack ?? error.message);
  return String(error);
}
