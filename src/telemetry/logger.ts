import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import pretty from 'pino-pretty';

/** For people at a terminal. */
const readable = { translateTime: 'HH:MM:ss', include: 'time,level,err,reason' };

/**
 * JSON lines for machines, one readable line each for a person at a terminal. Secrets and
 * messages are not logged in the first place; redaction is a second safeguard.
 */
export function createLogger(
  { level, human }: { level: string; human: boolean },
  destination: DestinationStream = human ? pretty(readable) : pino.destination(1),
): Logger {
  const redact = ['*.authorization', '*.headers.authorization', '*.headers.cookie', '*.token', '*.content'];
  return pino({ level, redact, serializers: { err: outline } }, destination);
}

/**
 * Drivers attach the client, the query or the response to their errors, with passwords and messages. The log gets what names
 * the fault; the stack includes those of the causes.
 */
function outline(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  return { type: name, message, ...('code' in error && { code: error.code }), stack: stackOf(error) };
}

function stackOf(error: Error): string {
  const { name, message, stack = `${name}: ${message}`, cause } = error;
  const others: unknown[] = error instanceof AggregateError ? error.errors : [];
  const behind = [...others, cause].filter((one) => one instanceof Error);
  return [stack, ...behind.map((one) => `caused by: ${stackOf(one)}`)].join('\n');
}
