/** What the SDK reports of itself, such as an exporter that cannot be reached: once in a while, with what was left out. */
import type { DiagLogger } from '@opentelemetry/api';
import type { Logger } from 'pino';
import { withoutKeys } from './redact-secrets.ts';

const pauseMs = 60_000;
const longestText = 500;

export function diagnosticsTo(logger: Logger): DiagLogger {
  let loggedAt = -Infinity;
  let leftOut = 0;
  const log = (message: string) => {
    const now = performance.now();
    if (now - loggedAt < pauseMs) {
      leftOut += 1;
      return;
    }
    const reason = withoutKeys(message.slice(0, longestText));
    logger.warn({ reason, leftOut }, 'telemetry is not exported');
    loggedAt = now;
    leftOut = 0;
  };
  return { error: log, warn: log, info: ignore, debug: ignore, verbose: ignore };
}

function ignore(): void {}
