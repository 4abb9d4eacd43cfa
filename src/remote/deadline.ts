/** One deadline for a whole operation at a server: the caller's signal and a time limit. `end` tells the two apart. */
export interface Deadline extends Disposable {
  signal: AbortSignal;
  readonly end: 'timeout' | 'cancelled' | undefined;
  /** Suspends the time limit, but not the caller's signal, while a person is asked. */
  pause(): void;
  /** Starts the time limit again from zero. */
  resume(): void;
}

export function startDeadline(timeoutMs: number, caller: AbortSignal): Deadline {
  const controller = new AbortController();
  let end: Deadline['end'];
  let isOver = false;
  const stop = (why: NonNullable<Deadline['end']>) => {
    end ??= why;
    controller.abort(new Error(why));
  };
  let timer = setTimeout(stop, timeoutMs, 'timeout');
  const onCancel = () => stop('cancelled');
  if (caller.aborted) onCancel();
  caller.addEventListener('abort', onCancel, { once: true });
  return {
    signal: controller.signal,
    get end() {
      return end;
    },
    pause: () => clearTimeout(timer),
    resume() {
      clearTimeout(timer);
      if (isOver) return;
      timer = setTimeout(stop, timeoutMs, 'timeout');
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      caller.removeEventListener('abort', onCancel);
    },
  };
}
