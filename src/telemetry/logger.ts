import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';

/**
 * JSON lines for machines, one readable line each for a person at a terminal. Secrets and
 * messages are not logged in the first place; redaction is a second safeguard.
 */
export function createLogger({ level, human }: { level: string; human: boolean }): Logger {
  const redact = ['*.authorization', '*.headers.authorization', '*.headers.cookie', '*.token', '*.content'];
  if (!human) return pino({ level, redact });
  return pino({ level, redact }, pretty({ translateTime: 'HH:MM:ss', include: 'time,level,err,reason' }));
}
