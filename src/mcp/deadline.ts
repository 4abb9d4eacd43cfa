/** One clock for a whole MCP operation. The caller's signal and the time limit end it alike, but are told apart. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
  /** Why it ended, if it did. */
  readonly end: 'timeout' | 'cancelled' | undefined;
}

export function startDeadline(timeoutMs: number, caller: AbortSignal): Deadline {
  const controller = new AbortController();
  let end: Deadline['end'];
  const stop = (why: NonNullable<Deadline['end']>) => {
    end ??= why;
    controller.abort(new Error(why));
  };
  const timer = setTimeout(stop, timeoutMs, 'timeout');
  const onCancel = () => stop('cancelled');
  if (caller.aborted) onCancel();
  caller.addEventListener('abort', onCancel, { once: true });
  return {
    signal: controller.signal,
    get end() {
      return end;
    },
    [Symbol.dispose]() {
      clearTimeout(timer);
      caller.removeEventListener('abort', onCancel);
    },
  };
}
