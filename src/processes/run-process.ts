/** What every process of ours does around its own work: read the configuration, start, stop on a signal. */
import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import { readConfig, readConfigAndIssuer } from './read-config.ts';
import type { Config } from '../config/config.ts';
import { createLogger } from '../telemetry/logger.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** For everything after the worker has given up waiting. */
const afterwardsMs = 15_000;

/** `letsIn`: people, so that their issuer has to answer. */
export async function runProcess(
  { human, letsIn = false }: { human: boolean; letsIn?: boolean },
  start: (config: Config, logger: Logger, stack: AsyncDisposableStack) => Promise<void>,
): Promise<void> {
  const stack = new AsyncDisposableStack();
  try {
    const config = letsIn ? await readConfigAndIssuer() : readConfig();
    const logger = createLogger({ level: config.logLevel, human });
    stopOnSignal({
      delayMs: config.shutdownGraceMs + afterwardsMs,
      logger,
      async stop() {
        // What is still starting would be left behind.
        await starting.catch(() => undefined);
        await stack.disposeAsync();
      },
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
