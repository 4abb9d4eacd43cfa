import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import pretty from 'pino-pretty';
import type { PrettyOptions } from 'pino-pretty';
import { plainText, tricks } from '@interlude-ai/core/elicitation/plain-text.ts';

const readable: PrettyOptions = {
  translateTime: 'HH:MM:ss',
  include: 'time,level,err',
  // A reason is a sentence, or a code for programs.
  messageFormat: ({ msg = '', reason }) =>
    oneEntry(
      [String(msg), ...(typeof reason === 'string' && reason.includes(' ') ? [reason] : [])].join('\n'),
    ),
};

/** Indents further lines: a message may quote a server or a program, and no line of it may pass for a log line. */
function oneEntry(message: string): string {
  return plainText(message).replaceAll('\n', '\n    ┊ ');
}

/**
 * JSON lines for machines, or one readable line each for a terminal. Secrets and messages are not logged in the first
 * place; redaction is a second safeguard.
 */
export function createLogger(
  { level, human }: { level: string; human: boolean },
  output: DestinationStream = pino.destination(1),
): Logger {
  const destination = human ? pretty({ ...readable, destination: output }) : output;
  const redact = ['*.authorization', '*.headers.authorization', '*.headers.cookie', '*.token', '*.content'];
  // JSON does not escape all control characters of terminals.
  const hooks = { streamWrite: (line: string) => line.replaceAll(tricks, '') };
  return pino({ level, redact, hooks, serializers: { err: outline } }, destination);
}

/**
 * Drivers attach the client, the query or the response to their errors, with passwords and messages. Only these members are
 * logged; the stack includes those of the causes.
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
