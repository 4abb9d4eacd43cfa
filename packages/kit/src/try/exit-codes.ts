/** The exit codes of `interlude try`: part of its contract, docs/testing-servers.md. */
import type { CallEnd } from '../call/call-events.ts';

export const exitCodes = {
  done: 0,
  /** The tool failed, or the server answered the call with an error. */
  toolError: 1,
  /** The command line is wrong, or the server cannot be reached. */
  usage: 2,
  unanswered: 3,
  fault: 4,
  timeout: 5,
  /** Ctrl+C. */
  interrupted: 130,
} as const;

export function exitCodeOf(end: CallEnd): number {
  switch (end.kind) {
    case 'result':
      return end.result.isError === true ? exitCodes.toolError : exitCodes.done;
    case 'error':
      return exitCodes.toolError;
    case 'unanswered':
      return exitCodes.unanswered;
    case 'fault':
      return exitCodes.fault;
    case 'timeout':
      return exitCodes.timeout;
    case 'stopped':
      return exitCodes.interrupted;
    default:
      return end satisfies never;
  }
}

/** Ends the command with this exit code; the message is for people. */
export class TryError extends Error {
  override name = 'TryError';
  readonly exitCode: number;
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** Aborts on the first Ctrl+C. The second one ends the process. */
export function interruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => {
    interrupted.abort();
    process.once('SIGINT', () => process.exit(exitCodes.interrupted));
  });
  return interrupted.signal;
}

/** Resolves as `work` does, or rejects as soon as `signal` aborts; `work` goes on. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const stop = () => aborted.reject(signal.reason as Error);
  signal.addEventListener('abort', stop);
  try {
    signal.throwIfAborted();
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
