/** How `interlude try` ends, for scripts. They are part of its contract: docs/testing-servers.md. */
import type { CallEnd } from '../../testing/call/call-events.ts';

export const exitCodes = {
  done: 0,
  /** The tool, or the server for the call, says that it failed. */
  toolError: 1,
  /** The command line is wrong, or the server cannot be reached with it. */
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
