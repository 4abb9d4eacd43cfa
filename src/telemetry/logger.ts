import { pino } from 'pino';
import type { Logger } from 'pino';
import pretty from 'pino-pretty';

/**
 * JSON lines for machines, one readable line each for a person at a terminal. What must never be logged is
 * not logged in the first place; the redaction is the second lock on that door.
 */
export function createLogger({ level, human }: { level: string; human: boolean }): Logger {
  const redact = ['*.authorization', '*.headers.authorization', '*.headers.cookie', '*.token', '*.content'];
  if (!human) return pino({ level, redact });
  return pino({ level, redact }, pretty({ translateTime: 'HH:MM:ss', include: 'time,level,err,reason' }));
}
