/**
 * Waits for work, but not for ever. Anybody may import it, browser code too; workflow code, whose clock is Temporal's,
 * does not.
 *
 * Only the waiting ends. Work that can be stopped, such as a request, is better given `AbortSignal.timeout`; a wait that
 * ends early by a signal is `setTimeout` of `node:timers/promises` with that signal; and a limit that is paused or begins
 * again whenever something comes is a timer of its own.
 */

interface Options {
  /** False: the wait alone does not keep the process from ending. Default true. */
  ref?: boolean;
}

/**
 * Settles as `work` does, or resolves with `otherwise` after `timeoutMs`. The timer goes as soon as `work` has settled.
 * Work that comes too late goes on unwatched: its result is dropped, and so is its failure.
 */
export async function withTimeout<T, Otherwise>(
  work: T | PromiseLike<T>,
  timeoutMs: number,
  otherwise: Otherwise,
  { ref = true }: Options = {},
): Promise<T | Otherwise> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<Otherwise>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, otherwise);
    // In a browser, with whose types this is compiled too, a timer is a number.
    if (!ref) (timer as unknown as { unref?(): void }).unref?.();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
