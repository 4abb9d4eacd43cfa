/** What every process does around its own work: read the settings, start, stop on a signal. */
import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import { readConfig, readConfigAndIssuer } from './read-config.ts';
import type { Config } from '../config/config.ts';
import { createLogger } from '../telemetry/logger.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** For closing everything else after the worker's grace period. */
const closingMs = 15_000;

/**
 * `isReadable`: the log is read at a terminal. `checksIssuer`: people sign in here, so that their issuer has to answer.
 * `stopping` aborts at the first signal, for a start that waits for something.
 */
export async function runProcess(
  { isReadable, checksIssuer = false }: { isReadable: boolean; checksIssuer?: boolean },
  start: (
    config: Config,
    logger: Logger,
    stack: AsyncDisposableStack,
    stopping: AbortSignal,
  ) => Promise<void>,
): Promise<void> {
  const stack = new AsyncDisposableStack();
  const stopping = new AbortController();
  try {
    const config = checksIssuer ? await readConfigAndIssuer() : readConfig();
    const logger = createLogger({ level: config.logLevel, human: isReadable });
    stopOnSignal({
      delayMs: config.shutdownGraceMs + closingMs,
      logger,
      async stop() {
        stopping.abort();
        // What is still starting would be left behind.
        await starting.catch(() => undefined);
        await stack.disposeAsync();
      },
    });
    const starting = start(config, logger, stack, stopping.signal);
    await starting;
  } catch (error) {
    // A signal stopped it while it waited, and closes it.
    if (stopping.signal.aborted) return;
    process.stderr.write(`\n${explain(error)}\n`);
    await stack.disposeAsync();
    process.exit(1);
  }
}

/** An error with a name or a code has a message for operators; of any other the stack is shown. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error)
    return 'code' in error || error.name !== 'Error' ? error.message : (error.stack ?? error.message);
  return String(error);
}
