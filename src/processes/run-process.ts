/** What every process does around its own work: read the settings, start, stop on a signal. */
import type { Logger } from 'pino';
import { ConfigError } from '../config/config-error.ts';
import type { ProcessKind } from '../config/environment-combinations.ts';
import { readProcessConfig } from './read-config.ts';
import packageJson from '../../package.json' with { type: 'json' };
import type { Config } from '../config/config.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics/start-metrics.ts';
import { startTelemetry } from '../telemetry/start-telemetry.ts';
import { stopOnSignal } from './stop-on-signal.ts';

/** For closing everything else after the worker's grace period. */
const closingMs = 15_000;

interface ProcessOptions {
  /** Its name in telemetry. */
  service: string;
  kind: ProcessKind;
}

interface OwnParts {
  logger: Logger;
  /** Disposed of when the process stops. */
  stack: AsyncDisposableStack;
  /** Aborts when the process is to stop, for a start that waits for something. */
  signal: AbortSignal;
  /** Null where they are off. */
  metrics: Metrics | null;
}

export async function runProcess(
  { service, kind }: ProcessOptions,
  start: (config: Config, own: OwnParts) => Promise<void>,
): Promise<void> {
  const stack = new AsyncDisposableStack();
  const stopping = new AbortController();
  try {
    const config = await readProcessConfig(kind);
    const logger = createLogger({ level: config.logLevel, human: kind === 'start' });
    for (const warning of config.warnings) logger.warn(warning);
    const { version } = packageJson;
    const metrics = await startTelemetry(config, { service, version, logger, secret: config.secret }, stack);
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
    const starting = start(config, { logger, stack, signal: stopping.signal, metrics });
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
