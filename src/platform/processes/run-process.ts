/** What every process does around its own work: read the settings, start (waiting for the database and Temporal), stop on a signal. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import closeWithGrace from 'close-with-grace';
import type { Logger } from 'pino';
import packageJson from '../../../package.json' with { type: 'json' };
import { createAbandonCalls } from '../../activities/call-tool/abandon-call.ts';
import { ConfigError } from '@interlude-ai/core/config-error.ts';
import type { Config } from '../config/config.ts';
import type { ProcessKind } from '../config/environment.ts';
import { watchInstallation } from '../installation/installation.ts';
import type { InstallationWatch } from '../installation/installation.ts';
import { createDeliveries } from '../../service/deliveries.ts';
import { startOutbox } from '../../service/outbox.ts';
import { databaseLack, temporalLack } from '../../service/readiness.ts';
import type { Lack } from '../../service/readiness.ts';
import { createTemporalCalls } from '../../service/temporal-calls.ts';
import { isDatabaseTrouble } from '../../storage/transient-errors.ts';
import { createLogger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics/start-metrics.ts';
import { startTelemetry } from '../telemetry/start-telemetry.ts';
import { isTemporalOutage } from '../temporal/outage.ts';
import type { Dependencies } from './dependencies.ts';
import type { InternalServer } from './internal-server.ts';
import { readProcessConfig } from './read-config.ts';

/** For closing everything else after the worker's grace period. */
const closingMs = 15_000;

interface OwnParts {
  logger: Logger;
  /** Disposed of when the process stops. */
  stack: AsyncDisposableStack;
  /** Aborts when the process stops, for a start that waits for something. */
  signal: AbortSignal;
  /** Null if they are off. */
  metrics: Metrics | null;
  /** What SIGHUP does from now on; before, and with `interlude start`, it stops the process. */
  onHangUp(work: () => Promise<void>): void;
}

/** `service`: its name in telemetry. */
export async function runProcess(
  { service, kind }: { service: string; kind: ProcessKind },
  start: (config: Config, own: OwnParts) => Promise<void>,
): Promise<void> {
  const stack = new AsyncDisposableStack();
  const stopping = new AbortController();
  try {
    const config = await readProcessConfig(kind);
    const logger = createLogger({ level: config.logLevel, human: kind === 'start' });
    for (const warning of config.warnings) logger.warn(warning);
    const { version } = packageJson;
    const about = { service, version, logger, secret: config.secret };
    const metrics = await startTelemetry(config, about, stack).catch(explainMissing);
    const onHangUp = stopOnSignal(config.shutdownGraceMs + closingMs, logger, async () => {
      stopping.abort();
      // Otherwise what is still starting would stay open.
      await starting.catch(() => undefined);
      await stack.disposeAsync();
    });
    const starting = start(config, { logger, stack, signal: stopping.signal, metrics, onHangUp });
    await starting;
  } catch (error) {
    // Stopped by a signal while it waited; the signal's handler closes it.
    if (stopping.signal.aborted) return;
    process.stderr.write(`\n${explain(error)}\n`);
    await stack.disposeAsync();
    process.exit(1);
  }
}

/** The npm package of the service leaves OpenTelemetry's SDK to those who use it; see scripts/build-service.mjs. */
function explainMissing(error: unknown): never {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  const { peerDependencies = {} } = packageJson as { peerDependencies?: Record<string, string> };
  const packages = Object.entries(peerDependencies).map(
    ([name, range]) => `${name}@${range.replace('^', '')}`,
  );
  if (!isMissing || packages.length === 0) throw error;
  throw new ConfigError([`OTEL_…: OpenTelemetry is not installed. Run: npm install ${packages.join(' ')}`]);
}

/** Errors with a name or a code have a message for operators; others show their stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof Error)
    return 'code' in error || error.name !== 'Error' ? error.message : (error.stack ?? error.message);
  return String(error);
}

/** Ctrl+C at a terminal arrives twice, from the terminal and from npm: signals within this time count as one. */
const sameKeyMs = 500;

/** Gracefully at the first signal, at once at the second. After `delayMs` the process ends in any case. */
function stopOnSignal(delayMs: number, logger: Logger, stop: () => Promise<void>): OwnParts['onHangUp'] {
  let hangUp: (() => Promise<void>) | undefined;
  const { close } = closeWithGrace(
    { delay: delayMs, logger: false, skip: ['SIGINT', 'SIGTERM', 'SIGHUP'] },
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
  process.on('SIGHUP', (signal) => {
    if (!hangUp) return onSignal(signal);
    logger.info('reading the agents file again (SIGHUP)');
    hangUp().catch((err: unknown) => logger.error({ err }, 'the agents file could not be read again'));
  });
  return (work) => void (hangUp = work);
}

const firstPauseMs = 500;
const longestPauseMs = 10_000;

/**
 * Repeats `start` while an outage makes it fail; other errors are thrown. A failed attempt is closed by its own stack,
 * the successful one by `stack`. The reason is logged once, and again when it changes.
 */
export async function startWhenReachable(
  start: (stack: AsyncDisposableStack) => Promise<void>,
  stack: AsyncDisposableStack,
  {
    logger,
    signal,
    internal,
  }: { logger: Logger; signal: AbortSignal; internal: Pick<InternalServer, 'report'> },
): Promise<void> {
  let logged: string | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    signal.throwIfAborted();
    const attempt = new AsyncDisposableStack();
    try {
      await start(attempt);
      stack.use(attempt);
      return;
    } catch (error) {
      await attempt.disposeAsync();
      const lack = lackBehind(error);
      if (lack === null) throw error;
      internal.report(async () => ({ notReady: [lack], warnings: [] }));
      if (lack.detail !== logged) logger.warn({ err: error }, `not started yet, and waiting: ${lack.detail}`);
      logged = lack.detail;
    }
    await sleep(pauseMs, undefined, { signal });
  }
}

function lackBehind(error: unknown): Lack | null {
  if (isDatabaseTrouble(error)) return { name: 'database', detail: databaseLack(withCode(error)) };
  return isTemporalOutage(error) ? { name: 'temporal', detail: temporalLack(withCode(error)) } : null;
}

/** The first of the error and its causes that has a code. */
function withCode(error: unknown): unknown {
  if (!(error instanceof Error) || ('code' in error && error.code !== undefined)) return error;
  return error.cause === undefined ? error : withCode(error.cause);
}

/**
 * Closed with the stack. When database and Temporal stop belonging together, the process ends at once, because it may
 * have acted on one without the other. When it is started again, it waits for an operator.
 */
export async function watchOwnInstallation(
  parts: Pick<Dependencies, 'config' | 'storage' | 'logger'>,
  stack: AsyncDisposableStack,
): Promise<InstallationWatch> {
  const onParted = (): never => {
    parts.logger.fatal('this process ends; started again, it waits for an operator');
    process.exit(1);
  };
  const watch = await watchInstallation(parts, { onParted });
  stack.defer(() => watch.close());
  return watch;
}

type OutboxParts = Omit<Dependencies, 'installation'> & {
  installation?: Pick<InstallationWatch, 'isTogether'>;
};

/**
 * Delivers the marks of the outbox until the stack is disposed. API and worker processes run it; a process that is both
 * runs it once.
 */
export function sendOutbox(parts: OutboxParts, client: Client, stack: AsyncDisposableStack): void {
  const calls = createTemporalCalls({ ...parts, client });
  const deliveries = createDeliveries({ ...parts, client, calls });
  const sender = startOutbox({
    ...parts,
    client,
    abandonCalls: createAbandonCalls(parts),
    onSent: deliveries.hint,
  });
  parts.onMarks(sender.deliver);
  stack.defer(async () => {
    await sender.stop();
    await calls.idle();
  });
}
