/** Ctrl+C: the first one ends what is going on in order, a second one at once. */
import { exitCodes } from './exit-codes.ts';

export function interruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  process.once('SIGINT', () => {
    interrupted.abort();
    process.once('SIGINT', () => process.exit(exitCodes.interrupted));
  });
  return interrupted.signal;
}
