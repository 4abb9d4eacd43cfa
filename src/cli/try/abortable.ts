/** Resolves as `work` does, or rejects as soon as `signal` aborts; the work itself goes on. */
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
