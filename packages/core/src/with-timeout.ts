/**
 * Waits for work with a time limit. For all code, also in browsers, except workflows, whose clock is Temporal's.
 *
 * Only the waiting ends. For work that can be stopped, such as a request, use `AbortSignal.timeout`; for a pause that a
 * signal can end, `setTimeout` of `node:timers/promises`; for a limit that restarts, a timer of its own.
 */

interface Options {
  /** False if the wait must not keep the process alive. Default true. */
  ref?: boolean;
}

/**
 * Settles as `work` does, or resolves with `otherwise` after `timeoutMs`. Work that takes longer goes on; its result or
 * failure is ignored.
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
    // In a browser a timer is a number, and this is also compiled with the types of browsers.
    if (!ref) (timer as unknown as { unref?(): void }).unref?.();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
